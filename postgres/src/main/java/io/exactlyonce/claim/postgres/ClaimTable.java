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
 * The claim table. Knows the table's schema, and makes the SQL of all statements that use the table. A statement is a
 * text block beside its caller, and contains {@code {table}} for the table's name.
 *
 * <p>A name without a schema is resolved once, by the search path of the first connection of claims. All statements
 * then contain the schema, also in application transactions. A table with the same name in another schema can therefore
 * never receive claims.
 */
public final class ClaimTable {

    public static final String DEFAULT_NAME = TableName.DEFAULT;

    /** Stands for the table's name in a statement. */
    private static final String PLACEHOLDER = "{table}";

    /** Columns for the address of a looked-up row {@code c}, which {@link #AT_PLACE} compares. */
    static final String PLACE = "c.ctid AS place, c.scope AS row_scope, c.key AS row_key";

    /**
     * Finds the row {@code claim} that the same statement has looked up and locked as {@code w}. The address consists
     * of {@code ctid} and the key, because each partition counts its {@code ctid} from the start. With the key,
     * PostgreSQL also visits only one partition.
     *
     * <p>The two pairs of columns, {@code scope} with {@code key} and {@code row_scope} with {@code row_key}, have the
     * same values. A comparison with one pair would permit a join that reads the whole index of the primary key. An OR
     * of two comparisons does not permit that join.
     */
    static final String AT_PLACE = """
            claim.ctid {=} w.place AND ((claim.scope {=} w.scope AND claim.key {=} w.key)
                                        OR (claim.scope {=} w.row_scope AND claim.key {=} w.row_key))""";

    /** Selects the schemas of the search path that have a relation of a given name, in the order of the path. */
    static final String SCHEMAS = """
            SELECT n.nspname
            FROM pg_catalog.unnest(pg_catalog.current_schemas(false)) WITH ORDINALITY AS path (name, position)
            JOIN pg_catalog.pg_namespace AS n ON n.nspname {=} path.name
            JOIN pg_catalog.pg_class AS c ON c.relnamespace {=} n.oid AND c.relname {=} ?
            ORDER BY path.position""";

    /**
     * Returns whether a table that an error names is this table or one of its partitions. The table's name is compared
     * and not the index's name, because the indexes of partitions have names of their own.
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
     * Creates the claim table's description. Uses no connection yet.
     *
     * @param name the table's name, with or without its schema; without a schema, the search path of the first
     *     connection decides
     * @param dataSource connects only to the primary, with autocommit and isolation level READ COMMITTED
     * @param retention how long a key's row is kept after its last claim, or after its completion if that is later;
     *     a request may override this
     * @param synchronousCommit what commits wait for; set in each transaction, because a pooler may run a
     *     transaction in any session
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

    /** Creates the description of a claim table with the default name. */
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

    /** Returns whether the schema is known: from the configured name, or from an earlier statement. */
    boolean isResolved() {
        return schema != null;
    }

    /** Sets the schema if it is not known yet. A known schema never changes. */
    synchronized void resolve(String found) {
        if (schema == null) {
            schema = found;
        }
    }

    /**
     * Looks the schema up on a connection for claims, if the schema is not known yet.
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

    /** Returns the SQL of a statement. The table's name is quoted, because the name may be a key word. */
    public String sql(String statement) {
        String table = quoted(schema());
        return PgCatalog.sql(statement)
                .replace('\'' + PLACEHOLDER + '\'', '\'' + table.replace("'", "''") + '\'')
                .replace(PLACEHOLDER, table);
    }

    /**
     * Returns a supplier that makes the SQL of a statement at its first use, because the table may not exist earlier.
     */
    public Supplier<String> later(String statement) {
        return SingletonSupplier.of(() -> sql(statement));
    }

    /**
     * Returns a script that creates this table. The names of its indexes and constraints begin with the table's name.
     *
     * @param script the script that creates the default table
     * @param target the schema for the table if no schema is known; {@code null} if no schema of the search path
     *     exists
     */
    String script(String script, @Nullable String target) {
        String table = Matcher.quoteReplacement(quoted(isResolved() ? schema : target));
        return script.replace(DEFAULT_NAME + "_", relation() + "_").replaceAll("\\b" + DEFAULT_NAME + "\\b", table);
    }

    private String quoted(@Nullable String schema) {
        String relation = '"' + relation() + '"';
        // A schema that the search path found can have any name, so quotes in the name are escaped.
        return schema == null ? relation : '"' + schema.replace("\"", "\"\"") + "\"." + relation;
    }

    /** Returns a statement for a transaction of its own, with its settings in front. */
    String alone(String statement) {
        return Statements.SETTINGS.formatted(synchronousCommit.setting()) + statement;
    }

    /**
     * Returns whether a statement's error names this table or one of its partitions, for example because of a unique
     * index or another constraint.
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

    /** Returns a runner of statements on connections of this table's DataSource. */
    public Statements statements() {
        return new Statements(dataSource, this::resolve);
    }
}
