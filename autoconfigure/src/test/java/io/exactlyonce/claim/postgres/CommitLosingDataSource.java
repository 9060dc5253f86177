package io.exactlyonce.claim.postgres;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/** Connections that break at their commit: just after the server did it, or just before it was asked to. */
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
                    try {
                        return method.invoke(connection, arguments);
                    } catch (InvocationTargetException failure) {
                        throw failure.getCause();
                    }
                });
    }

    private void lose(Connection connection) throws SQLException {
        if (committed) {
            connection.commit();
        }
        connection.close();
        throw new SQLException("connection reset", "08006");
    }
}
