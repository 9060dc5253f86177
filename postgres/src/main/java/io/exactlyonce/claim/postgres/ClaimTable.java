package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.SynchronousCommit;
import java.time.Duration;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

/**
 * The claim table: where it is, and what the statements of the store, the transactions, the retention and the checks have
 * in common. A statement is a text block beside its caller, names the table {@code {table}}, and becomes SQL here.
 *
 * @param name of the table, with or without its schema; without one, the search path of a connection decides
 * @param dataSource reaches only the primary, in autocommit, with READ COMMITTED as its connections' isolation level
 * @param retention how long a key's row is kept, counted from its last claim, or from its completion if that is later; a
 *     request may override it
 * @param synchronousCommit what commits wait for; set in each transaction, because a pooler may give it any session
 */
public record ClaimTable(String name, DataSource dataSource, Duration retention, SynchronousCommit synchronousCommit) {

    public static final String DEFAULT_NAME = "exactly_once_claim";

    /**
     * Names that PostgreSQL leaves as they are, whether quoted or not. The names of the indexes and of the check end in up to
     * 13 more characters, of 63.
     */
    public static final String NAME_PATTERN = "([a-z_][a-z0-9_]{0,62}\\.)?[a-z_][a-z0-9_]{0,49}";

    /** Stands for the table in a statement. */
    private static final String PLACEHOLDER = "{table}";

    /** The address of a row {@code c} that a statement looks up, for {@link #AT_PLACE}. */
    static final String PLACE = "c.ctid AS place, c.scope AS row_scope, c.key AS row_key";

    /**
     * Finds the row {@code claim} that the same statement has looked up and locked, {@code w}. The key is a part of the address,
     * because each partition numbers its places anew; and it makes PostgreSQL visit the key's partition alone.
     *
     * <p>Both pairs have the same values. An equality with one pair would also permit a join that reads the whole index of the
     * primary key; an OR of two does not.
     */
    static final String AT_PLACE =
            "claim.ctid = w.place AND (claim.scope, claim.key) IN ((w.scope, w.key), (w.row_scope, w.row_key))";

    /** A partition's indexes have names of their own, so an error is known by the table that it names. */
    private static final String IS_NAMED_BY_ERROR = """
            SELECT coalesce((SELECT coalesce(pg_partition_root(relation.oid), relation.oid) = to_regclass('{table}')
                             FROM (SELECT to_regclass(format('%I.%I', ?::text, ?::text)) AS oid) AS relation), false)""";

    public ClaimTable {
        if (!name.matches(NAME_PATTERN)) {
            throw new IllegalArgumentException("A claim table cannot be named " + name);
        }
    }

    /** The table that has no name of its own. */
    public ClaimTable(DataSource dataSource, Duration retention, SynchronousCommit synchronousCommit) {
        this(DEFAULT_NAME, dataSource, retention, synchronousCommit);
    }

    /** Returns the SQL of a statement. Quoted, because a name may be a key word. */
    public String sql(String statement) {
        return statement.replace(PLACEHOLDER, quoted());
    }

    /** Returns the script that creates the default table, for this one. Its indexes and constraints begin with its name. */
    String script(String script) {
        String relation = name.substring(name.indexOf('.') + 1);
        return script.replaceAll("\\b" + DEFAULT_NAME + "\\b", quoted()).replace(DEFAULT_NAME + "_", relation + "_");
    }

    private String quoted() {
        return '"' + name.replace(".", "\".\"") + '"';
    }

    /** Returns the SQL of a statement that is a transaction of its own, behind the settings that it needs. */
    String alone(String statement) {
        return Statements.SETTINGS.formatted(synchronousCommit.setting()) + sql(statement);
    }

    /** Returns the SQL of a statement within a transaction of the application: see {@link Statements#within}. */
    public String within(String statement) {
        return Statements.within(sql(statement));
    }

    /** Returns whether a statement has failed because of this table's indexes, or those of one of its partitions. */
    public boolean isCauseOf(Exception failure) {
        for (@Nullable Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof PSQLException refusal && refusal.getServerErrorMessage() != null) {
                ServerErrorMessage error = refusal.getServerErrorMessage();
                return error.getTable() != null
                        && statements().ask(sql(IS_NAMED_BY_ERROR), Boolean.class, error.getSchema(), error.getTable());
            }
        }
        return false;
    }

    /** Returns what runs statements on the table's own connections. */
    public Statements statements() {
        return new Statements(dataSource);
    }
}
