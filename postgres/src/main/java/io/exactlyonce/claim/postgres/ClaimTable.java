package io.exactlyonce.claim.postgres;

import io.exactlyonce.boundary.Causes;
import io.exactlyonce.claim.ClaimStoreUnavailableException;
import io.exactlyonce.postgres.SynchronousCommit;
import io.exactlyonce.postgres.TableName;
import io.exactlyonce.primary.PgCatalog;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;
import org.springframework.util.function.SingletonSupplier;

/**
 * The name, schema and settings of the claim table. Other classes write SQL with {@code {table}} as a placeholder, and
 * this class replaces the placeholder.
 *
 * <p>If the configured name has no schema, the first connection for claims finds the schema by its search path. All
 * later statements contain this schema, also in application transactions. So claims never go to a table with the same
 * name in another schema.
 */
public final class ClaimTable {

    public static final String DEFAULT_NAME = TableName.DEFAULT;

    /** Stands for the table's name in a statement. */
    private static final String PLACEHOLDER = "{table}";

    /** These columns tell where a row is stored, so that {@link #AT_PLACE} finds the row again without a search. */
    static final String PLACE = "c.ctid AS place, c.scope AS row_scope, c.key AS row_key";

    /**
     * The condition for changing rows that a subquery has locked. {@code w} is the result of the subquery, and
     * {@code claim} is the claim table.
     *
     * <p>{@code ctid} alone is not enough, because two partitions can have rows with the same {@code ctid}. With the
     * key, PostgreSQL also visits only one partition.
     *
     * <p>The key is compared with {@code w.key} and with {@code w.row_key}, although these two are equal. With only one
     * comparison, PostgreSQL could choose a join that reads the whole index of the primary key.
     */
    static final String AT_PLACE = """
            claim.ctid {=} w.place AND ((claim.scope {=} w.scope AND claim.key {=} w.key)
                                        OR (claim.scope {=} w.row_scope AND claim.key {=} w.row_key))""";

    /** Selects the schemas of the search path that have a table of this name, in the order of the search path. */
    static final String SCHEMAS = """
            SELECT n.nspname
            FROM pg_catalog.unnest(pg_catalog.current_schemas(false)) WITH ORDINALITY AS path (name, position)
            JOIN pg_catalog.pg_namespace AS n ON n.nspname {=} path.name
            JOIN pg_catalog.pg_class AS c ON c.relnamespace {=} n.oid AND c.relname {=} ?
            ORDER BY path.position""";

    /**
     * Selects whether the table that PostgreSQL names in an error is the claim table, or one of its partitions. The
     * index that the error names is not compared, because each partition names its indexes differently.
     */
    private static final String IS_NAMED_BY_ERROR = """
            SELECT coalesce(
                (SELECT coalesce(pg_catalog.pg_partition_root(relation.oid), relation.oid) {=} pg_catalog.to_regclass('{table}')
                 FROM (SELECT pg_catalog.to_regclass(pg_catalog.format('%I.%I', ?::pg_catalog.text, ?::pg_catalog.text)) AS oid)
                     AS relation), false)""";

    private final String name;
    private final DataSource dataSource;
    private final Duration retention;
    private final SynchronousCommit synchronousCommit;
    private volatile @Nullable String schema;

    /**
     * Describes the claim table. Uses no connection yet.
     *
     * @param name the table's name, with or without its schema; without a schema, the search path of the first
     *     connection decides
     * @param dataSource connects only to the primary, with autocommit and isolation level READ COMMITTED
     * @param retention how long a key's row is kept after its last claim or its completion; a request may set another
     *     time
     * @param synchronousCommit PostgreSQL's {@code synchronous_commit} for claims; set in each transaction, because a
     *     pooler may run each transaction in another session
     */
    public ClaimTable(String name, DataSource dataSource, Duration retention, SynchronousCommit synchronousCommit) {
        if (!TableName.isValid(name)) {
            throw new IllegalArgumentException(
                    "The name of the claim table (%s) must be %s".formatted(name, TableName.FORM));
        }
        this.name = name;
        this.dataSource = dataSource;
        this.retention = retention;
        this.synchronousCommit = synchronousCommit;
        int dot = name.indexOf('.');
        this.schema = dot < 0 ? null : name.substring(0, dot);
    }

    /** Describes a claim table with the default name. */
    public ClaimTable(DataSource dataSource, Duration retention, SynchronousCommit synchronousCommit) {
        this(DEFAULT_NAME, dataSource, retention, synchronousCommit);
    }

    /** Returns the configured name. */
    public String name() {
        return name;
    }

    public DataSource dataSource() {
        return dataSource;
    }

    public Duration retention() {
        return retention;
    }

    public SynchronousCommit synchronousCommit() {
        return synchronousCommit;
    }

    /** Returns the table's schema. If the schema is not known yet, looks it up in the database. */
    String schema() {
        if (!isResolved()) {
            statements().run(connection -> true);
        }
        return Objects.requireNonNull(schema);
    }

    /** Returns the name without its schema. */
    String relation() {
        return name.substring(name.indexOf('.') + 1);
    }

    boolean isResolved() {
        return schema != null;
    }

    /** Sets the schema, unless it is already known. */
    synchronized void resolve(String found) {
        if (schema == null) {
            schema = found;
        }
    }

    /**
     * Looks up the schema in the database, unless it is already known.
     *
     * @throws ClaimStoreUnavailableException if no schema of the search path has the table, or if several have it
     */
    void resolve(Connection connection) throws SQLException {
        if (isResolved()) {
            return;
        }
        List<String> schemas = new ArrayList<>();
        try (PreparedStatement statement = connection.prepareStatement(PgCatalog.sql(SCHEMAS))) {
            statement.setString(1, relation());
            ResultSet row = statement.executeQuery();
            while (row.next()) {
                schemas.add(row.getString(1));
            }
        }
        if (schemas.size() != 1) {
            throw new ClaimStoreUnavailableException(
                    schemas.isEmpty()
                            ? "No schema of the search path has table %s".formatted(name)
                            : "Several schemas of the search path have a table %s: %s".formatted(name, schemas),
                    null);
        }
        resolve(schemas.get(0));
    }

    /** Puts the table's name into a statement. The name is quoted, because it may be an SQL key word. */
    public String sql(String statement) {
        String table = quoted(schema());
        return PgCatalog.sql(statement)
                .replace('\'' + PLACEHOLDER + '\'', '\'' + table.replace("'", "''") + '\'')
                .replace(PLACEHOLDER, table);
    }

    /**
     * Puts the table's name into a statement when the statement is first used, because the table may be created after
     * this object.
     */
    public Supplier<String> later(String statement) {
        return SingletonSupplier.of(() -> sql(statement));
    }

    /**
     * Changes the script of the default table, so that it creates this table. The names of indexes and constraints then
     * begin with this table's name.
     *
     * @param script the script that creates the default table
     * @param target the schema to use if the table's schema is not known yet; {@code null} if no schema of the search
     *     path exists
     */
    String script(String script, @Nullable String target) {
        String table = Matcher.quoteReplacement(quoted(isResolved() ? schema : target));
        return script.replace(DEFAULT_NAME + "_", relation() + "_").replaceAll("\\b" + DEFAULT_NAME + "\\b", table);
    }

    private String quoted(@Nullable String schema) {
        String relation = '"' + relation() + '"';
        // The schema's name may contain quotes if it comes from the search path.
        return schema == null ? relation : '"' + schema.replace("\"", "\"\"") + "\"." + relation;
    }

    /** Puts {@link Statements#SETTINGS} in front of a statement, which then runs in its own transaction. */
    String alone(String statement) {
        return Statements.SETTINGS.formatted(synchronousCommit.setting()) + statement;
    }

    /**
     * Returns whether a statement failed because of this table or one of its partitions, for example because of a
     * unique index.
     */
    public boolean isCauseOf(Exception failure) {
        for (Throwable cause : Causes.of(failure).toList()) {
            if (cause instanceof PSQLException refusal && refusal.getServerErrorMessage() != null) {
                ServerErrorMessage error = refusal.getServerErrorMessage();
                return error.getTable() != null
                        && statements().ask(sql(IS_NAMED_BY_ERROR), Boolean.class, error.getSchema(), error.getTable());
            }
        }
        return false;
    }

    public Statements statements() {
        return new Statements(dataSource, this::resolve);
    }
}
