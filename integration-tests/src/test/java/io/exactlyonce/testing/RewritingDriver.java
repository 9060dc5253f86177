package io.exactlyonce.testing;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Properties;
import java.util.function.UnaryOperator;

/**
 * Replaces PostgreSQL's JDBC driver until it is closed, and prepares rewritten statements. An unchanged test then runs
 * with other statements.
 */
public final class RewritingDriver extends org.postgresql.Driver implements AutoCloseable {

    private final UnaryOperator<String> rewriting;
    private volatile boolean open = true;

    private RewritingDriver(UnaryOperator<String> rewriting) {
        this.rewriting = rewriting;
    }

    /** Replaces PostgreSQL's own driver. */
    public static RewritingDriver open(UnaryOperator<String> rewriting) throws SQLException {
        RewritingDriver driver = new RewritingDriver(rewriting);
        // DriverManager tries drivers in the order of registration.
        deregister();
        DriverManager.registerDriver(driver);
        return driver;
    }

    @Override
    public void close() throws SQLException {
        // A pool of another test may keep a connection that it opened meanwhile.
        open = false;
        DriverManager.deregisterDriver(this);
        register();
    }

    @Override
    public Connection connect(String url, Properties info) throws SQLException {
        Connection connection = super.connect(url, info);
        return connection == null ? null : rewriting(connection);
    }

    private Connection rewriting(Connection connection) {
        return (Connection) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                    if (open && method.getName().equals("prepareStatement")) {
                        arguments[0] = rewriting.apply((String) arguments[0]);
                    }
                    try {
                        return method.invoke(connection, arguments);
                    } catch (InvocationTargetException failure) {
                        throw failure.getCause();
                    }
                });
    }
}
