package io.exactlyonce.primary;

import io.exactlyonce.testing.SplittingDataSource;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.Map;
import javax.sql.DataSource;
import javax.sql.rowset.CachedRowSet;
import javax.sql.rowset.RowSetProvider;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/** A DataSource that behaves like a caching proxy. The DataSource answers a repeated read from its memory. */
final class CachingDataSource extends DelegatingDataSource {

    private final Map<String, CachedRowSet> answers = new HashMap<>();

    CachingDataSource(DataSource target) {
        super(target);
    }

    @Override
    public Connection getConnection() throws SQLException {
        Connection connection = super.getConnection();
        return (Connection) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                    Object result = method.invoke(connection, arguments);
                    return result instanceof Statement statement
                                    && method.getName().equals("createStatement")
                            ? cached(statement)
                            : result;
                });
    }

    private Statement cached(Statement statement) {
        return (Statement) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {Statement.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("executeQuery")
                            && SplittingDataSource.isPlainRead((String) arguments[0])) {
                        return answer(statement, (String) arguments[0]);
                    }
                    try {
                        return method.invoke(statement, arguments);
                    } catch (InvocationTargetException failure) {
                        throw failure.getCause();
                    }
                });
    }

    private ResultSet answer(Statement statement, String sql) throws SQLException {
        if (!answers.containsKey(sql)) {
            CachedRowSet rows = RowSetProvider.newFactory().createCachedRowSet();
            try (ResultSet answer = statement.executeQuery(sql)) {
                rows.populate(answer);
            }
            answers.put(sql, rows);
        }
        return answers.get(sql).createCopy();
    }
}
