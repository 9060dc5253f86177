package io.exactlyonce.sample.lab;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import javax.sql.DataSource;

/** Reads the records of one side's workers. */
public final class FulfilmentTable {

    private static final String ORDERS = "SELECT DISTINCT order_id FROM fulfilment";

    private static final String P95 =
            "SELECT coalesce(percentile_disc(0.95) WITHIN GROUP (ORDER BY millis), 0) FROM fulfilment";

    /** Leaves out the orders that warm workers up. */
    private static final String RECENT_P95 = P95
            + " WHERE fulfilled_at > clock_timestamp() - make_interval(secs => ?) AND order_id NOT LIKE 'warm-up-%'";

    private final DataSource database;

    /** @param database the database of the side */
    public FulfilmentTable(DataSource database) {
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

    /** Returns p95 of the handlers that ended in this last period, in milliseconds, or 0 if there were none. */
    public long recentP95Millis(Duration time) throws SQLException {
        try (Connection connection = database.getConnection();
                PreparedStatement statement = connection.prepareStatement(RECENT_P95)) {
            statement.setDouble(1, time.toMillis() / 1e3);
            try (ResultSet rows = statement.executeQuery()) {
                rows.next();
                return rows.getLong(1);
            }
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
