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
 * The claim table: its place, and the common parts of the statements of the store, the transactions, the retention and the checks. A
 * statement is a text block beside its caller, names the table {@code {table}}, and becomes SQL here.
 *
 * <p>A name without a schema is resolved once, by the search path of the first connection of the claims. All statements then
 * name the schema, those in the application's transactions too: no other table of this name, in whatever schema and at
 * whatever time, can take the claims.
 */
public final class ClaimTable {

    public static final String DEFAULT_NAME = TableName.DEFAULT;

    /** Stands for the table in a statement. */
    private static final String PLACEHOLDER = "{table}";

    /** The address of a row {@code c} that a statement looks up, for {@link #AT_PLACE}. */
    static final String PLACE = "c.ctid AS place, c.scope AS row_scope, c.key AS row_key";

    /**
     * Finds the row {@code claim} that the same statement looked up and locked as {@code w}. The key is a part of the address, because each
     * partition numbers its places anew. With the key, PostgreSQL also visits one partition only.
     *
     * <p>Both pairs have the same values. An equality with one pair would also permit a join that reads the whole index of the
     * primary key; an OR of two does not.
     */
    static final String AT_PLACE = """
            claim.ctid {=} w.place AND ((claim.scope {=} w.scope AND claim.key {=} w.key)
                                        OR (claim.scope {=} w.row_scope AND claim.key {=} w.row_key))""";

    /** The schemas of the search path that have a relation of this name, in the path's order. */
    static final String SCHEMAS = """
            SELECT n.nspname
            FROM pg_catalog.unnest(pg_catalog.current_schemas(false)) WITH ORDINALITY AS path (name, position)
            JOIN pg_catalog.pg_namespace AS n ON n.nspname {=} path.name
            JOIN pg_catalog.pg_class AS c ON c.relnamespace {=} n.oid AND c.relname {=} ?
            ORDER BY path.position""";

    /**
     * Finds out whether an error is about this table or a partition of it. Partitions' indexes have names of their own, so the table that
     * the error names is compared.
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
     * @param name of the table, with or without its schema; without one, the search path of the claims decides, once
     * @param dataSource reaches only the primary, in autocommit, with READ COMMITTED as its connections' isolation level
     * @param retention how long a key's row is kept, counted from its last claim, or from its completion if that is later; a
     *     request may override it
     * @param synchronousCommit what commits wait for; set in each transaction, because a pooler may give it any session
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

    /** Makes the table with the default name. */
    public ClaimTable(DataSource dataSource, Duration retention, SynchronousCommit synchronousCommit) {
        this(DEFAULT_NAME, dataSource, retention, synchronousCommit);
    }

    /** Returns the name as it is configured. */
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

    /** Returns the schema, which is found first if need be. */
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

    /** Returns whether the schema is known, by its name or by a statement that has run. */
    boolean isResolved() {
        return schema != null;
    }

    /** Sets the schema, unless it is known. It never changes afterwards. */
    synchronized void resolve(String found) {
        if (schema == null) {
            schema = found;
        }
    }

    /**
     * Finds the schema by a connection of the claims, unless it is known.
     *
     * @throws ClaimStoreUnavailableException if no schema of the search path has the table, or several have one
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

    /** Returns the SQL of a statement. Quoted, because a name may be a key word. */
    public String sql(String statement) {
        String table = quoted(schema());
        return PgCatalog.sql(statement)
                .replace('\'' + PLACEHOLDER + '\'', '\'' + table.replace("'", "''") + '\'')
                .replace(PLACEHOLDER, table);
    }

    /** Returns the SQL of a statement. It is made at the first use, because the table may not exist before. */
    public Supplier<String> later(String statement) {
        return SingletonSupplier.of(() -> sql(statement));
    }

    /**
     * Returns the script that creates the default table, for this one. Its indexes and constraints begin with its name.
     *
     * @param target the schema for the table, unless it is known; {@code null} if the search path has none
     */
    String script(String script, @Nullable String target) {
        String table = Matcher.quoteReplacement(quoted(isResolved() ? schema : target));
        return script.replace(DEFAULT_NAME + "_", relation() + "_").replaceAll("\\b" + DEFAULT_NAME + "\\b", table);
    }

    private String quoted(@Nullable String schema) {
        String relation = '"' + relation() + '"';
        // The schema of a search path may have any name.
        return schema == null ? relation : '"' + schema.replace("\"", "\"\"") + "\"." + relation;
    }

    /** Returns a statement that is a transaction of its own, with the settings that it needs before it. */
    String alone(String statement) {
        return Statements.SETTINGS.formatted(synchronousCommit.setting()) + statement;
    }

    /** Returns whether a statement failed because of an index of this table or of one of its partitions. */
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

    /** Returns what runs statements on the table's own connections. */
    public Statements statements() {
        return new Statements(dataSource, this::resolve);
    }
}
