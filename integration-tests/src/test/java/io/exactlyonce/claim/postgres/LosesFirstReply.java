package io.exactlyonce.claim.postgres;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/** A DataSource that commits the first statement, and then loses the connection before the response, once. */
public final class LosesFirstReply extends DelegatingDataSource {

    private final AtomicBoolean lost = new AtomicBoolean();

    public LosesFirstReply(DataSource target) {
        super(target);
    }

    @Override
    public Connection getConnection() throws SQLException {
        Connection connection = super.getConnection();
        return (Connection) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                    Object result = invoke(method, connection, arguments);
                    return method.getName().equals("prepareStatement")
                            ? losing((PreparedStatement) result, connection)
                            : result;
                });
    }

    private PreparedStatement losing(PreparedStatement statement, Connection connection) {
        return (PreparedStatement) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {PreparedStatement.class}, (proxy, method, arguments) -> {
                    Object result = invoke(method, statement, arguments);
                    if (method.getName().equals("execute") && lost.compareAndSet(false, true)) {
                        connection.abort(Runnable::run);
                        throw new SQLException("as if the connection had been reset", "08006");
                    }
                    return result;
                });
    }

    private static Object invoke(Method method, Object target, Object[] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException failure) {
            throw failure.getCause();
        }
    }
}
