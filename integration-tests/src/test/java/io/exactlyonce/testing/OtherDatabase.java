package io.exactlyonce.testing;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.sql.SQLSyntaxErrorException;
import org.springframework.jdbc.datasource.AbstractDataSource;

/**
 * A driver that imitates another database: it answers the statements of startup as H2 2.4.240 does. H2 itself would
 * become the DataSource of each test application that names none, because it would be on the class path.
 */
public final class OtherDatabase extends AbstractDataSource {

    /** The answer of H2 to a function that it does not have. */
    public static final String ANSWER = "Function \"CURRENT_SETTING\" not found";

    private static final String FUNCTION_NOT_FOUND = "90022";

    @Override
    public Connection getConnection() {
        return proxy(Connection.class, (connection, method, arguments) -> switch (method.getName()) {
            case "getMetaData" -> metaData();
            case "getAutoCommit", "isValid" -> true;
            case "createStatement", "prepareStatement" ->
                throw new SQLSyntaxErrorException(ANSWER, FUNCTION_NOT_FOUND, Integer.parseInt(FUNCTION_NOT_FOUND));
            default -> nothing(method.getReturnType());
        });
    }

    @Override
    public Connection getConnection(String username, String password) throws SQLException {
        return getConnection();
    }

    private static DatabaseMetaData metaData() {
        return proxy(DatabaseMetaData.class, (metaData, method, arguments) -> switch (method.getName()) {
            case "getDatabaseProductName" -> "H2";
            case "getDatabaseProductVersion" -> "2.4.240 (2025-09-22)";
            default -> nothing(method.getReturnType());
        });
    }

    private static Object nothing(Class<?> type) {
        if (type == boolean.class) {
            return false;
        }
        return type == int.class ? 0 : null;
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }
}
