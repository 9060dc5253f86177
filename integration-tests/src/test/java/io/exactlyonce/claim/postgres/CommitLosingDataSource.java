package io.exactlyonce.claim.postgres;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * Connections that break at a commit, which may be the end of a statement. The break comes right after the server
 * committed, or right before the request.
 */
public final class CommitLosingDataSource extends DelegatingDataSource {

    private final boolean committed;

    public CommitLosingDataSource(DataSource target, boolean committed) {
        super(target);
        this.committed = committed;
    }

    @Override
    public Connection getConnection() throws SQLException {
        Connection connection = super.getConnection();
        return (Connection) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("commit")) {
                        lose(connection);
                    }
                    Object returned = invoke(method, connection, arguments);
                    boolean commits =
                            method.getName().equals("prepareStatement") && ((String) arguments[0]).endsWith("COMMIT");
                    return commits ? losing((PreparedStatement) returned, connection) : returned;
                });
    }

    private PreparedStatement losing(PreparedStatement statement, Connection connection) {
        return (PreparedStatement) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {PreparedStatement.class}, (proxy, method, arguments) -> {
                    if (!method.getName().equals("executeUpdate")) {
                        return invoke(method, statement, arguments);
                    }
                    if (committed) {
                        statement.executeUpdate();
                    }
                    throw lost(connection);
                });
    }

    private static Object invoke(Method method, Object target, Object[] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException failure) {
            throw failure.getCause();
        }
    }

    private void lose(Connection connection) throws SQLException {
        if (committed) {
            connection.commit();
        }
        throw lost(connection);
    }

    private static SQLException lost(Connection connection) throws SQLException {
        connection.close();
        return new SQLException("connection reset", "08006");
    }
}
