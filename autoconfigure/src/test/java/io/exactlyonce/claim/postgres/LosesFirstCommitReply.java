package io.exactlyonce.claim.postgres;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/** Commits, and then loses the connection before the reply, once. */
public final class LosesFirstCommitReply extends DelegatingDataSource {

    private final AtomicBoolean lost = new AtomicBoolean();

    public LosesFirstCommitReply(DataSource target) {
        super(target);
    }

    @Override
    public Connection getConnection() throws SQLException {
        Connection connection = super.getConnection();
        return (Connection) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                    try {
                        Object result = method.invoke(connection, arguments);
                        if (method.getName().equals("commit") && lost.compareAndSet(false, true)) {
                            connection.abort(Runnable::run);
                            throw new SQLException("as if the connection had been reset", "08006");
                        }
                        return result;
                    } catch (InvocationTargetException failure) {
                        throw failure.getCause();
                    }
                });
    }
}
