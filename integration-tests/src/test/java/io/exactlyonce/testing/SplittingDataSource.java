package io.exactlyonce.testing;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.datasource.AbstractDataSource;

/**
 * A DataSource that behaves like a proxy which splits reads from writes, such as Pgpool-II. A {@code SELECT} without
 * volatile functions goes to the replica, in autocommit and at the beginning of a transaction. All other statements,
 * and all that follow a write in its transaction, go to the primary.
 */
public final class SplittingDataSource extends AbstractDataSource {

    private static final List<String> VOLATILE =
            List.of("pg_is_in_recovery(", "clock_timestamp(", "nextval(", "pg_advisory");

    private static final Set<String> TO_BOTH =
            Set.of("setAutoCommit", "commit", "rollback", "close", "abort", "setReadOnly", "setTransactionIsolation");

    private static final Set<String> ENDS_TRANSACTION = Set.of("setAutoCommit", "commit", "rollback");

    private final DataSource primary;
    private final DataSource replica;

    public SplittingDataSource(DataSource primary, DataSource replica) {
        this.primary = primary;
        this.replica = replica;
    }

    @Override
    public Connection getConnection() throws SQLException {
        Session session = new Session(primary.getConnection(), replica.getConnection());
        return proxy(Connection.class, session::invoke);
    }

    @Override
    public Connection getConnection(String username, String password) throws SQLException {
        return getConnection();
    }

    /** Returns whether such a proxy treats a statement as a read. */
    public static boolean isPlainRead(String sql) {
        String statement = sql.strip().toLowerCase(Locale.ROOT);
        return statement.startsWith("select")
                && !statement.contains("for update")
                && VOLATILE.stream().noneMatch(statement::contains);
    }

    private interface Calls {
        @Nullable Object invoke(Method method, Object @Nullable [] arguments) throws Throwable;
    }

    private static <T> T proxy(Class<T> type, Calls calls) {
        return type.cast(Proxy.newProxyInstance(
                SplittingDataSource.class.getClassLoader(), new Class<?>[] {type}, (self, method, arguments) -> {
                    try {
                        return calls.invoke(method, arguments);
                    } catch (InvocationTargetException failure) {
                        throw failure.getCause();
                    }
                }));
    }

    private static final class Session {

        private final Connection primary;
        private final Connection replica;
        private boolean wrote;

        Session(Connection primary, Connection replica) {
            this.primary = primary;
            this.replica = replica;
        }

        @Nullable Object invoke(Method method, Object @Nullable [] arguments) throws Throwable {
            String name = method.getName();
            if (name.equals("createStatement")) {
                Statement onPrimary = (Statement) method.invoke(primary, arguments);
                Statement onReplica = (Statement) method.invoke(replica, arguments);
                return proxy(Statement.class, new SplitStatement(onPrimary, onReplica)::invoke);
            }
            if (name.startsWith("prepare")) {
                return method.invoke(goesToReplica((String) arguments[0]) ? replica : primary, arguments);
            }
            if (ENDS_TRANSACTION.contains(name)) {
                wrote = false;
            }
            if (TO_BOTH.contains(name)) {
                method.invoke(replica, arguments);
            }
            return method.invoke(primary, arguments);
        }

        private boolean goesToReplica(String sql) throws SQLException {
            if (!isPlainRead(sql)) {
                wrote = true;
                return false;
            }
            return primary.getAutoCommit() || !wrote;
        }

        private final class SplitStatement {

            private final Statement onPrimary;
            private final Statement onReplica;
            private Statement latest;

            SplitStatement(Statement onPrimary, Statement onReplica) {
                this.onPrimary = onPrimary;
                this.onReplica = onReplica;
                this.latest = onPrimary;
            }

            @Nullable Object invoke(Method method, Object @Nullable [] arguments) throws Throwable {
                if (method.getName().equals("close")) {
                    onReplica.close();
                    onPrimary.close();
                    return null;
                }
                if (method.getName().startsWith("execute") && arguments != null) {
                    latest = goesToReplica((String) arguments[0]) ? onReplica : onPrimary;
                }
                return method.invoke(latest, arguments);
            }
        }
    }
}
