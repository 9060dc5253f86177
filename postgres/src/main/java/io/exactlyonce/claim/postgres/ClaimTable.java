package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.SynchronousCommit;
import java.time.Duration;
import javax.sql.DataSource;

/**
 * The claim table: where it is, and what the statements of the store, the transactions, the retention and the checks have
 * in common. A statement is a text block beside its caller, names the table {@code {table}}, and becomes SQL here.
 *
 * @param dataSource reaches only the primary, in autocommit, with READ COMMITTED as its connections' isolation level
 * @param retention how long a key's row is kept, counted from its last claim, or from its completion if that is later; a
 *     request may override it
 * @param synchronousCommit what commits wait for; set in each transaction, because a pooler may give it any session
 */
public record ClaimTable(DataSource dataSource, Duration retention, SynchronousCommit synchronousCommit) {

    public static final String NAME = "exactly_once_claim";

    /** Stands for the table in a statement. */
    private static final String PLACEHOLDER = "{table}";

    /** Returns the table's name, as messages and statements have it. */
    public String name() {
        return NAME;
    }

    /** Returns the SQL of a statement. */
    public String sql(String statement) {
        return statement.replace(PLACEHOLDER, NAME);
    }

    /** Returns the SQL of a statement that is a transaction of its own, behind the settings that it needs. */
    String alone(String statement) {
        return Statements.SETTINGS.formatted(synchronousCommit.setting()) + sql(statement);
    }

    /** Returns the SQL of a statement within a transaction of the application: see {@link Statements#within}. */
    public String within(String statement) {
        return Statements.within(sql(statement));
    }

    /** Returns what runs statements on the table's own connections. */
    public Statements statements() {
        return new Statements(dataSource);
    }
}
