package io.exactlyonce.primary;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;

/**
 * What a JDBC driver says that its database is, which takes no statement that the database would have to understand.
 *
 * @param name such as {@code PostgreSQL}
 * @param version as the driver tells it
 */
public record DatabaseProduct(String name, String version) {

    /** Asks a connection. */
    public static DatabaseProduct of(Connection connection) throws SQLException {
        DatabaseMetaData metaData = connection.getMetaData();
        return new DatabaseProduct(metaData.getDatabaseProductName(), metaData.getDatabaseProductVersion());
    }

    /** Returns whether it is PostgreSQL, as far as a driver can tell: not of what only speaks its protocol. */
    public boolean isPostgresql() {
        return "PostgreSQL".equals(name);
    }

    @Override
    public String toString() {
        return name + " " + version;
    }
}
