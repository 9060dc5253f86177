package io.exactlyonce.claim.postgres.transaction;

import io.exactlyonce.boundary.Causes;
import io.exactlyonce.boundary.PrintableException;
import io.exactlyonce.claim.postgres.SameDatabase;
import io.exactlyonce.claim.transaction.ClaimTransactionException;
import io.exactlyonce.primary.ClaimPool;
import java.sql.SQLException;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.NonTransientDataAccessResourceException;
import org.springframework.dao.RecoverableDataAccessException;
import org.springframework.dao.TransientDataAccessException;
import org.springframework.jdbc.BadSqlGrammarException;
import org.springframework.jdbc.support.SQLExceptionSubclassTranslator;
import org.springframework.jdbc.support.SQLExceptionTranslator;
import org.springframework.transaction.TransactionTimedOutException;

/**
 * Separates failures of the database from other failures. If the database is unavailable, listeners may pause, and the
 * claim is repeated. Other failures (for example of a handler) end only one attempt, and no listener pauses.
 */
final class TransactionFailures {

    /** SQLSTATE of a statement that PostgreSQL rejects because an earlier statement of the transaction has failed. */
    private static final String ABORTED = "25P02";

    private static final String NO_PRIVILEGE = "42501";

    /**
     * SQLSTATE classes that Spring does not categorize. They also count as an unavailable database: statements that
     * must be prepared again, refused logins, locked tables, internal errors, and errors of poolers.
     */
    private static final Set<String> OF_THE_SERVER = Set.of("0A", "26", "28", "55", "XX");

    /** SQLSTATEs of a transaction that the server ended because it was idle or ran for too long. */
    private static final Set<String> TIMED_OUT = Set.of("25P03", "25P04");

    private static final SQLExceptionTranslator TRANSLATOR = new SQLExceptionSubclassTranslator();

    private final SameDatabase database;
    private final ClaimWhereabouts whereabouts;

    TransactionFailures(SameDatabase database, ClaimWhereabouts whereabouts) {
        this.database = database;
        this.whereabouts = whereabouts;
    }

    /**
     * Returns whether a failure is an outage of the database. The database may be unreachable, slow or a replica, it
     * may refuse all logins, or the transaction's timeout may have passed.
     *
     * <p>Exceptions of the application's own code, for example of a tenant resolver, are no outage.
     */
    static boolean isOutage(Exception failure) {
        if (failure instanceof TransactionTimedOutException) {
            return true;
        }
        DataAccessException kind = kind(failure);
        String state = ClaimPool.sqlState(failure);
        return kind instanceof TransientDataAccessException
                || kind instanceof NonTransientDataAccessResourceException
                || kind instanceof RecoverableDataAccessException
                || ClaimPool.isStale(failure)
                || TIMED_OUT.contains(state)
                || (state.isEmpty() ? sql(failure) != null : OF_THE_SERVER.contains(state.substring(0, 2)));
    }

    private static @Nullable DataAccessException kind(Exception failure) {
        if (failure instanceof DataAccessException translated) {
            return translated;
        }
        SQLException sql = sql(failure);
        return sql == null ? null : TRANSLATOR.translate("", null, sql);
    }

    private static @Nullable SQLException sql(Exception failure) {
        return (SQLException) Causes.of(failure)
                .filter(SQLException.class::isInstance)
                .findFirst()
                .orElse(null);
    }

    /**
     * Returns the exception for a claim that failed although the database is available. The cause is the application's
     * own code, or the transaction's session (for example its role lacks a privilege).
     *
     * @param claims reads the same rows through the claims' own pool, to make sure that the database is available
     * @throws io.exactlyonce.claim.ClaimStoreUnavailableException if the claims' pool gets no answer either
     */
    ClaimTransactionException unclaimed(Object transaction, Exception failure, Runnable claims) {
        String state = ClaimPool.sqlState(failure);
        if (state.isEmpty()) {
            return new ClaimTransactionException(
                    "%s did not begin: %s in the application's own code, such as a resolver of tenants; follow its cause"
                            .formatted(
                                    transaction, Causes.root(failure).getClass().getName()),
                    failure);
        }
        claims.run();
        if (state.equals(ABORTED)) {
            return new ClaimTransactionException(
                    "%s was aborted before its claim: a statement%s failed when the transaction began, and its failure was swallowed; correct the transaction manager, or its listener"
                            .formatted(transaction, swallowed(failure)),
                    failure);
        }
        return session(transaction, state, failure);
    }

    private ClaimTransactionException session(Object transaction, String state, Exception failure) {
        if (state.equals(NO_PRIVILEGE)) {
            return new ClaimTransactionException(
                    "%s has a role without privileges on table %s (SQLSTATE %s); GRANT SELECT, INSERT, UPDATE ON %s, and USAGE ON SCHEMA %s, to each role that transactions use"
                            .formatted(
                                    transaction,
                                    database.tableName(),
                                    state,
                                    database.qualifiedTable(),
                                    database.schema()),
                    failure);
        }
        if (kind(failure) instanceof BadSqlGrammarException) {
            return whereabouts.elsewhere(transaction, "does not find table %s (SQLSTATE " + state + ")", failure);
        }
        return new ClaimTransactionException(
                "%s cannot claim its keys (SQLSTATE %s); follow its cause".formatted(transaction, state),
                PrintableException.of(failure));
    }

    /** Returns whether a statement failed only because an earlier statement of the transaction had failed. */
    static boolean isAftermath(Throwable failure) {
        return ClaimPool.sqlState(failure).equals(ABORTED);
    }

    /**
     * Returns the exception for a completion that failed because of the handler, or because its session cannot write to
     * the claim table; {@code null} if there is another reason.
     */
    @Nullable ClaimTransactionException uncompleted(Object transaction, DataAccessException failure) {
        String state = ClaimPool.sqlState(failure);
        if (state.equals(ABORTED)) {
            return new ClaimTransactionException(
                    "%s is rolled back: a statement of its handler failed%s, and the handler went on, but PostgreSQL had aborted the transaction; let the failure through, avoid it with INSERT ... ON CONFLICT DO NOTHING, or set a savepoint (propagation = NESTED)"
                            .formatted(transaction, swallowed(failure)),
                    failure);
        }
        boolean isOfClaims = String.valueOf(Causes.root(failure).getMessage()).contains(database.tableName());
        return isOfClaims && failure instanceof BadSqlGrammarException ? session(transaction, state, failure) : null;
    }

    /**
     * Describes the earlier failure that made PostgreSQL abort the transaction. The driver attaches it as the innermost
     * cause; if not, the description is empty. PostgreSQL's own text is left out, because it may quote values.
     */
    private static String swallowed(Exception aftermath) {
        Throwable cause = Causes.root(aftermath);
        if (!(cause instanceof SQLException first) || isAftermath(first)) {
            return "";
        }
        DataAccessException kind = TRANSLATOR.translate("", null, first);
        String type = (kind == null ? first : kind).getClass().getSimpleName();
        return " (%s, SQLSTATE %s)".formatted(type, first.getSQLState());
    }
}
