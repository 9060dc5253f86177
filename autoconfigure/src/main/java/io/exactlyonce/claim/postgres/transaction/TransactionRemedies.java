package io.exactlyonce.claim.postgres.transaction;

import io.exactlyonce.claim.postgres.schema.ClaimTable;
import io.exactlyonce.primary.ConnectionTarget;
import io.exactlyonce.primary.PrimaryPinnedDataSource;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** What to do where a transaction manager's transactions cannot hold claims, by where claims are kept. */
final class TransactionRemedies {

    private static final String INSUFFICIENT_PRIVILEGE = "42501";
    private static final String READ_ONLY_SQL_TRANSACTION = "25006";
    private static final String CONNECTION_EXCEPTION_CLASS = "08";

    private static final String OR_EXTERNAL = "; or effects = EXTERNAL";

    /** {@code null} if the DataSource of the claims does not tell who chose it. */
    private final ConnectionTarget.@Nullable Source claims;

    /** @param claims reaches the database that keeps the claims */
    TransactionRemedies(DataSource claims) {
        this.claims = claims instanceof PrimaryPinnedDataSource pinned ? pinned.source() : null;
    }

    /** Where the handler writes to a database that can never keep claims. */
    String forAnotherProduct() {
        return useTheClaimsDatabase() + OR_EXTERNAL;
    }

    /** Where the handler writes to another PostgreSQL database. */
    String forAnotherDatabase() {
        return useTheClaimsDatabase() + keepClaimsHere() + OR_EXTERNAL;
    }

    /** Where its transactions fail. */
    String forFailure(Throwable failure) {
        return mend(sqlState(failure)) + forAnotherDatabase();
    }

    private String useTheClaimsDatabase() {
        return "use a transaction manager of %s, transactionManager = \"...\" if there are several".formatted(place());
    }

    private String place() {
        if (claims == null) {
            return "the DataSource that claims are kept by";
        }
        return switch (claims) {
            case APPLICATION -> "the DataSource that spring.datasource.url points to";
            case PROPERTIES -> "the database that exactly-once.datasource.url leads to";
            case MARKED_BEAN -> "the DataSource marked @ExactlyOnceDataSource";
        };
    }

    private String keepClaimsHere() {
        if (claims == ConnectionTarget.Source.PROPERTIES) {
            return "; or remove exactly-once.datasource.url, so that claims are kept with the application's data";
        }
        return claims == ConnectionTarget.Source.MARKED_BEAN
                ? "; or mark the DataSource of this transaction manager with @ExactlyOnceDataSource"
                : "";
    }

    private static String mend(String sqlState) {
        if (sqlState.startsWith(CONNECTION_EXCEPTION_CLASS)) {
            return "check that its database is up; or ";
        }
        return switch (sqlState) {
            case READ_ONLY_SQL_TRANSACTION ->
                "point its DataSource at the primary, and let its transactions write; or ";
            case INSUFFICIENT_PRIVILEGE ->
                "GRANT SELECT, INSERT, UPDATE ON %s to its user; or ".formatted(ClaimTable.NAME);
            default -> "";
        };
    }

    /** Of the driver's own exception; empty if there is none. */
    private static String sqlState(Throwable failure) {
        String sqlState = "";
        for (@Nullable Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof SQLException sql && sql.getSQLState() != null) {
                sqlState = sql.getSQLState();
            }
        }
        return sqlState;
    }
}
