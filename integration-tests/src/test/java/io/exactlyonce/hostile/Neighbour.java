package io.exactlyonce.hostile;

import io.exactlyonce.claim.postgres.ClaimSchema;
import io.exactlyonce.claim.postgres.ClaimTable;
import io.exactlyonce.postgres.SynchronousCommit;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * A role without rights on the claim table, which creates all that a schema can hold. Each of its functions counts its
 * calls in a sequence, which a rollback leaves as it is.
 */
final class Neighbour {

    private static final String COUNTED =
            "LANGUAGE plpgsql AS $body$ BEGIN PERFORM pg_catalog.nextval(%L); RETURN NULL; END $body$";

    /** Operators for each pair of these types, which fit better than PostgreSQL's operators that need a cast. */
    private static final String OPERATORS = """
            DO $do$
            DECLARE op pg_catalog.text; l pg_catalog.text; r pg_catalog.text; result pg_catalog.text; target pg_catalog.text;
            BEGIN
                FOREACH op IN ARRAY ARRAY['=', '<>', '<', '<=', '>', '>=', '+', '-', '*', '/', '#', '||', '~', '~~'] LOOP
                    target := format('%1$s.%%I', 'operator ' || op);
                    EXECUTE format('CREATE SEQUENCE IF NOT EXISTS %%s', target);
                    EXECUTE format('GRANT USAGE ON SEQUENCE %%s TO PUBLIC', target);
                    FOREACH l IN ARRAY %2$s LOOP
                        FOREACH r IN ARRAY %2$s LOOP
                            CONTINUE WHEN l <> r AND op IN ('~', '~~');
                            SELECT coalesce(max(o.oprresult::regtype::text), CASE WHEN op ~ '[=<>~]' THEN 'boolean' ELSE l END)
                            INTO result FROM pg_operator AS o
                            WHERE o.oprname = op AND o.oprleft = l::regtype AND o.oprright = r::regtype;
                            EXECUTE format('CREATE FUNCTION %1$s.%%I(%%s, %%s) RETURNS %%s %3$s', 'op ' || op, l, r, result, target);
                            EXECUTE format('CREATE OPERATOR %1$s.%%s (LEFTARG = %%s, RIGHTARG = %%s, FUNCTION = %1$s.%%I)',
                                           op, l, r, 'op ' || op);
                        END LOOP;
                    END LOOP;
                END LOOP;
            END $do$""";

    private static final String TYPES =
            "ARRAY['varchar', 'text', 'bpchar', 'name', '\"char\"', 'integer', 'bigint', 'numeric', 'float8',"
                    + " 'timestamptz', 'interval', 'uuid', 'bytea', 'boolean', 'xid8', 'oid', 'tid', 'regclass', 'inet', 'pg_lsn']";

    /** Functions of the same arguments as PostgreSQL's own, and with arguments that fit text from a column better. */
    private static final String FUNCTIONS = """
            DO $do$
            DECLARE f record; target pg_catalog.text;
            BEGIN
                FOR f IN
                    SELECT p.proname, pg_get_function_identity_arguments(p.oid) AS arguments,
                           CASE WHEN p.proretset THEN 'SETOF ' ELSE '' END || format_type(p.prorettype, NULL) AS result
                    FROM pg_proc AS p
                    WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind IN ('f', 'a')
                      AND (p.proname ~ '^(now|clock_timestamp|set_config|current_setting|unnest|encode|decode|sha256|convert_to|left)$'
                           OR p.proname ~ '^(format|host|inet_server|current_database|current_schema|to_regclass|row_security)'
                           OR p.proname ~ '^(pg_try_advisory|pg_advisory|pg_current|pg_xact|pg_snapshot|pg_postmaster|pg_wal_lsn)'
                           OR p.proname ~ '^(pg_backend_pid|pg_blocking_pids|pg_get_expr|pg_has_role|pg_get_userbyid|pg_partition)'
                           OR p.proname ~ '^(aclexplode|acldefault|ceil|upper|lower|substring|extract|date_part|timezone)$'
                           OR p.proname ~ '^(count|max|min|sum|length|gen_random_uuid|to_timestamp|md5|round)$')
                UNION ALL
                    SELECT name, replace(arguments, 'text', 'varchar'), result
                    FROM (VALUES ('set_config', 'text, text, boolean', 'text'), ('current_setting', 'text', 'text'),
                                 ('convert_to', 'text, name', 'bytea'), ('convert_to', 'text, text', 'bytea'),
                                 ('encode', 'bytea, text', 'text'), ('decode', 'text, text', 'bytea'),
                                 ('left', 'text, integer', 'text'), ('to_regclass', 'text', 'regclass'), ('upper', 'text', 'text'))
                         AS better (name, arguments, result)
                LOOP
                    target := format('%1$s.%%I', 'function ' || f.proname);
                    BEGIN
                        EXECUTE format('CREATE SEQUENCE IF NOT EXISTS %%s', target);
                        EXECUTE format('GRANT USAGE ON SEQUENCE %%s TO PUBLIC', target);
                        EXECUTE replace(format('CREATE FUNCTION %1$s.%%I(%%s) RETURNS %%s %2$s', f.proname, f.arguments, f.result, target),
                                        CASE WHEN f.result = 'void' OR f.result LIKE 'SETOF%%' OR f.arguments LIKE '%%OUT %%' THEN 'RETURN NULL' ELSE '' END, 'RETURN');
                    EXCEPTION WHEN invalid_function_definition OR feature_not_supported OR syntax_error OR duplicate_function THEN
                        NULL; -- Only a superuser can write one with such arguments.
                    END;
                END LOOP;
            END $do$""";

    /** Types by the names of PostgreSQL's, a type that text becomes by itself, and one for each kind of cast. */
    private static final String OTHERS = """
            CREATE SEQUENCE %1$s."a cast";
            GRANT USAGE ON SEQUENCE %1$s."a cast" TO PUBLIC;
            CREATE TYPE %1$s.decoy AS (value pg_catalog.text);
            CREATE FUNCTION %1$s.decoyed(pg_catalog.text) RETURNS %1$s.decoy LANGUAGE plpgsql AS
                $$ BEGIN PERFORM pg_catalog.nextval('%1$s."a cast"'); RETURN NULL; END $$;
            CREATE FUNCTION %1$s.undecoyed(%1$s.decoy) RETURNS pg_catalog.text LANGUAGE plpgsql AS
                $$ BEGIN PERFORM pg_catalog.nextval('%1$s."a cast"'); RETURN NULL; END $$;
            CREATE CAST (pg_catalog.text AS %1$s.decoy) WITH FUNCTION %1$s.decoyed(pg_catalog.text) AS IMPLICIT;
            CREATE CAST (%1$s.decoy AS pg_catalog.text) WITH FUNCTION %1$s.undecoyed(%1$s.decoy) AS IMPLICIT;
            CREATE FUNCTION %1$s.checked(pg_catalog.text) RETURNS boolean LANGUAGE plpgsql AS
                $$ BEGIN PERFORM pg_catalog.nextval('%1$s."a cast"'); RETURN true; END $$;
            CREATE DOMAIN %1$s.text AS pg_catalog.text CHECK (%1$s.checked(VALUE));
            CREATE DOMAIN %1$s.uuid AS pg_catalog.uuid CHECK (%1$s.checked(VALUE::pg_catalog.text));
            CREATE DOMAIN %1$s.bytea AS pg_catalog.bytea CHECK (%1$s.checked(VALUE::pg_catalog.text));
            CREATE DOMAIN %1$s.timestamptz AS pg_catalog.timestamptz CHECK (%1$s.checked(VALUE::pg_catalog.text));
            CREATE DOMAIN %1$s.xid8 AS pg_catalog.xid8 CHECK (%1$s.checked(VALUE::pg_catalog.text));
            CREATE DOMAIN %1$s.oid AS pg_catalog.oid CHECK (%1$s.checked(VALUE::pg_catalog.text));
            CREATE DOMAIN %1$s.regclass AS pg_catalog.regclass CHECK (%1$s.checked(VALUE::pg_catalog.text))""";

    /** A table that takes all claims, and says so. */
    private static final String TABLE = """
            CREATE SEQUENCE %1$s."a trigger";
            GRANT USAGE ON SEQUENCE %1$s."a trigger" TO PUBLIC;
            GRANT ALL ON %1$s.exactly_once_claim TO PUBLIC;
            CREATE FUNCTION %1$s.fired() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN PERFORM pg_catalog.nextval('%1$s."a trigger"'); RETURN NEW; END $$;
            CREATE TRIGGER fired BEFORE INSERT OR UPDATE OR DELETE ON %1$s.exactly_once_claim
                FOR EACH STATEMENT EXECUTE FUNCTION %1$s.fired()""";

    private static final String VIEW = """
            CREATE SEQUENCE %1$s."a view";
            GRANT USAGE ON SEQUENCE %1$s."a view" TO PUBLIC;
            CREATE VIEW %1$s.%2$s AS SELECT pg_catalog.nextval('%1$s."a view"') FROM pg_catalog.%2$s;
            GRANT SELECT ON %1$s.%2$s TO PUBLIC""";

    private static final String CALLED = """
            SELECT sequencename FROM pg_catalog.pg_sequences
            WHERE schemaname = ?::pg_catalog.name AND last_value IS NOT NULL ORDER BY sequencename""";

    private static final String FUNCTIONS_MADE = """
            SELECT pg_catalog.count(*) FROM pg_catalog.pg_proc WHERE pronamespace = ?::pg_catalog.regnamespace""";

    private final JdbcTemplate own;
    private final String schema;

    /**
     * @param own the neighbour's way into the database
     * @param schema where it may create
     */
    Neighbour(JdbcTemplate own, String schema) {
        this.own = own;
        this.schema = schema;
    }

    void shadowNames() {
        // In front of them would be the neighbour's own.
        own.execute("SET search_path TO pg_catalog;" + OPERATORS.formatted(schema, TYPES, COUNTED));
        own.execute("SET search_path TO pg_catalog;" + FUNCTIONS.formatted(schema, COUNTED));
        own.execute("SET search_path TO pg_catalog;" + OTHERS.formatted(schema));
    }

    void shadowCatalog() {
        for (String relation :
                List.of("pg_class", "pg_namespace", "pg_inherits", "pg_roles", "pg_database", "pg_index")) {
            own.execute(VIEW.formatted(schema, relation).replace("a view", "a view of " + relation));
        }
    }

    void shadowTable() {
        new ClaimSchema(new ClaimTable(
                        schema + ".exactly_once_claim",
                        Objects.requireNonNull(own.getDataSource()),
                        Duration.ofDays(1),
                        SynchronousCommit.ON))
                .create();
        own.execute(TABLE.formatted(schema));
    }

    /** Returns the number of created functions, including those of operators. */
    long functions(JdbcTemplate superuser) {
        return Objects.requireNonNull(superuser.queryForObject(FUNCTIONS_MADE, Long.class, schema));
    }

    /** Returns what was called. */
    List<String> called(JdbcTemplate superuser) {
        return superuser.queryForList(CALLED, String.class, schema);
    }
}
