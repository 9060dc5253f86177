package io.exactlyonce.claim.postgres;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/** Runs an action of another client right before a chosen statement. */
public final class InterruptedDataSource extends DelegatingDataSource {

    private final String part;
    private final AtomicInteger times;
    private final Runnable event;

    public InterruptedDataSource(DataSource target, String part, int times, Runnable event) {
        super(target);
        this.part = part;
        this.times = new AtomicInteger(times);
        this.event = event;
    }

    @Override
    public Connection getConnection() throws SQLException {
        Connection connection = super.getConnection();
        return (Connection) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("prepareStatement")
                            && ((String) arguments[0]).contains(part)
                            && times.getAndDecrement() > 0) {
                        event.run();
                    }
                    try {
                        return method.invoke(connection, arguments);
                    } catch (InvocationTargetException failure) {
                        throw failure.getCause();
                    }
                });
    }
}
