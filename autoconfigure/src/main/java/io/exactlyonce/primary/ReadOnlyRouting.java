package io.exactlyonce.primary;

import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Finds DataSources that send read-only transactions elsewhere. Claims never use one; but whoever borrows for claims from
 * a DataSource that decides by the thread's state depends on that state for ever.
 */
final class ReadOnlyRouting {

    private final DataSource dataSource;

    ReadOnlyRouting(DataSource dataSource) {
        this.dataSource = dataSource;
    }

    /** @throws NotPrimaryException if a read-only transaction would meet another server than this one */
    void requireNone(DatabaseServer primary) throws SQLException {
        if (dataSource.isWrapperFor(AbstractRoutingDataSource.class)) {
            throw NotPrimaryException.routed(
                    primary,
                    "%s chooses a server for each connection"
                            .formatted(dataSource
                                    .unwrap(AbstractRoutingDataSource.class)
                                    .getClass()
                                    .getName()));
        }
        DatabaseServer readOnly = serverOfReadOnlyTransactions();
        if (!readOnly.isSameServerAs(primary)) {
            throw NotPrimaryException.routed(
                    readOnly, "the DataSource sends read-only transactions there and others to " + primary.address());
        }
    }

    /** Says that the transaction is read-only in both ways that Spring has: by the thread, and by the connection. */
    private DatabaseServer serverOfReadOnlyTransactions() throws SQLException {
        boolean outer = TransactionSynchronizationManager.isCurrentTransactionReadOnly();
        TransactionSynchronizationManager.setCurrentTransactionReadOnly(true);
        try (Connection connection = dataSource.getConnection()) {
            connection.setReadOnly(true);
            try {
                return ServerAnswer.of(connection).server();
            } finally {
                if (!connection.getAutoCommit()) {
                    connection.commit();
                }
                // Not every pool resets it.
                connection.setReadOnly(false);
            }
        } finally {
            TransactionSynchronizationManager.setCurrentTransactionReadOnly(outer);
        }
    }
}
