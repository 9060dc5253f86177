package io.exactlyonce.claim.postgres;

import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** The transaction that the calling thread has open: what it uses, rather than what somebody configured. */
public final class OpenTransaction {

    private OpenTransaction() {}

    /** Returns the DataSources whose connections it has bound to the thread: none if it speaks no JDBC. */
    public static List<DataSource> dataSources() {
        if (!TransactionSynchronizationManager.isActualTransactionActive()) {
            return List.of();
        }
        return TransactionSynchronizationManager.getResourceMap().entrySet().stream()
                .filter(resource -> resource.getValue() instanceof ConnectionHolder)
                .map(Map.Entry::getKey)
                .filter(DataSource.class::isInstance)
                .map(DataSource.class::cast)
                .toList();
    }
}
