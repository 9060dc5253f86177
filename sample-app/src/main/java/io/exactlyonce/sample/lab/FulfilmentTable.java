package io.exactlyonce.sample.lab;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.Set;
import javax.sql.DataSource;

/** Reads what the workers of one side recorded. */
final class FulfilmentTable {

    private static final String ORDERS = "SELECT DISTINCT order_id FROM fulfilment";

    private static final String P95 =
            "SELECT coalesce(percentile_disc(0.95) WITHIN GROUP (ORDER BY millis), 0) FROM fulfilment";

    private final DataSource database;

    FulfilmentTable(DataSource database) {
        this.database = database;
    }

    Set<String> orders() throws SQLException {
        try (Connection connection = database.getConnection();
                PreparedStatement statement = connection.prepareStatement(ORDERS);
                ResultSet rows = statement.executeQuery()) {
            Set<String> orders = new HashSet<>();
            while (rows.next()) {
                orders.add(rows.getString(1));
            }
            return orders;
        }
    }

    long p95Millis() throws SQLException {
        try (Connection connection = database.getConnection();
                PreparedStatement statement = connection.prepareStatement(P95);
                ResultSet rows = statement.executeQuery()) {
            rows.next();
            return rows.getLong(1);
        }
    }
}
