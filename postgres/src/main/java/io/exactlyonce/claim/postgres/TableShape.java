package io.exactlyonce.claim.postgres;

import io.exactlyonce.primary.ClaimDatabaseException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.core.DataClassRowMapper;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Checks that the claim table and its partitions can keep all keys. Without this check, a fault would appear only
 * later, when a row cannot be written, or is lost.
 */
final class TableShape {

    /**
     * Finds a fault of the table or one of its partitions. A missing index is reported only if there is no other fault.
     *
     * <p>Hash partitions must cover all keys together. A partition with modulus 8, for example, covers an eighth of the
     * keys. The statement adds up the shares of all partitions.
     */
    private static final String FIND_FAULT = """
            WITH RECURSIVE relation AS (
                SELECT pg_catalog.to_regclass('{table}')::pg_catalog.oid AS oid, true AS is_root
                UNION ALL
                SELECT child.inhrelid, false FROM relation
                JOIN pg_catalog.pg_inherits AS child ON child.inhparent {=} relation.oid
                WHERE NOT child.inhdetachpending
            ), looked_at AS (
                SELECT c.oid::pg_catalog.regclass::pg_catalog.text AS name,
                       CASE
                           WHEN c.relkind {<>} 'r' AND c.relkind {<>} 'p' THEN 'NOT_A_TABLE'
                           WHEN relation.is_root AND c.relispartition THEN 'ONE_PARTITION'
                           WHEN relation.is_root AND pg_catalog.row_security_active(c.oid) THEN 'HIDES_ROWS'
                           WHEN c.relpersistence {=} 't' THEN 'TEMPORARY'
                           WHEN c.relkind {=} 'r' AND c.relpersistence {=} 'u' THEN 'UNLOGGED'
                           WHEN c.relkind {=} 'r'
                               AND EXISTS (SELECT 1 FROM pg_catalog.pg_inherits WHERE inhparent {=} c.oid) THEN 'INHERITED'
                           WHEN p.partstrat {=} 'h' AND hash.is_complete IS NOT TRUE THEN 'REMAINDER_MISSING'
                           WHEN (p.partstrat {=} 'l' OR p.partstrat {=} 'r') AND p.partdefid {=} 0::pg_catalog.oid THEN 'DEFAULT_MISSING'
                           WHEN c.relkind {=} 'r' AND 2 {>} (
                               SELECT pg_catalog.count(DISTINCT a.attname) FROM pg_catalog.pg_index AS i
                               JOIN pg_catalog.pg_attribute AS a
                                   ON a.attrelid {=} i.indrelid AND a.attnum {=} i.indkey[0]
                               WHERE i.indrelid {=} c.oid AND i.indisvalid
                                 AND (a.attname {=} 'expires_at' OR a.attname {=} 'parked_at'))
                               THEN 'INDEX_MISSING'
                       END AS fault
                FROM relation
                JOIN pg_catalog.pg_class AS c ON c.oid {=} relation.oid
                LEFT JOIN pg_catalog.pg_partitioned_table AS p ON p.partrelid {=} c.oid
                LEFT JOIN LATERAL (
                    SELECT pg_catalog.sum(largest {/} modulus) {=} pg_catalog.max(largest) AS is_complete
                    FROM (SELECT modulus, pg_catalog.max(modulus) OVER () AS largest
                          FROM (SELECT substring(pg_catalog.pg_get_expr(part.relpartbound, part.oid)
                                                 FROM 'modulus (\\d+)')::bigint AS modulus
                                FROM relation AS child JOIN pg_catalog.pg_class AS part ON part.oid {=} child.oid
                                JOIN pg_catalog.pg_inherits
                                    ON inhrelid {=} part.oid AND inhparent {=} c.oid) AS bounds) AS shares
                ) AS hash ON true
            )
            SELECT name, fault FROM looked_at WHERE fault IS NOT NULL
            ORDER BY fault {=} 'INDEX_MISSING', name LIMIT 1""";

    private static final Logger log = LoggerFactory.getLogger(TableShape.class);

    private enum Fault {
        NOT_A_TABLE("is not a table", "keep claims in a table that the script creates"),
        ONE_PARTITION(
                "is one partition of another table, so it does not take all keys",
                "set exactly-once.claim.table-name to the partitioned table"),
        HIDES_ROWS(
                "is behind row-level security, which could hide completed keys",
                "ALTER TABLE %s DISABLE ROW LEVEL SECURITY, or give this user BYPASSRLS"),
        TEMPORARY("is temporary, so other sessions do not see it", "drop it, and create the table with the script"),
        UNLOGGED(
                "is unlogged, so a crash of the server empties it, and completed keys run again",
                "ALTER TABLE %s SET LOGGED"),
        INHERITED(
                "has tables that inherit from it, whose keys its primary key does not include",
                "end the inheritance with ALTER TABLE ... NO INHERIT %s, or partition the table"),
        REMAINDER_MISSING(
                "has no partition for some remainders of its hash, so some keys have no place",
                "CREATE TABLE ... PARTITION OF %s FOR VALUES WITH (MODULUS ..., REMAINDER ...) for each missing remainder"),
        DEFAULT_MISSING(
                "has no default partition, so keys of other values have no place",
                "CREATE TABLE ... PARTITION OF %s DEFAULT"),
        /** Only logged, because a missing index costs time, but loses no claims. */
        INDEX_MISSING("", "");

        private final String problem;
        private final String remedy;

        Fault(String problem, String remedy) {
            this.problem = problem;
            this.remedy = remedy;
        }
    }

    private record Finding(String name, Fault fault) {}

    private TableShape() {}

    /**
     * Checks the table and its partitions. A missing index is only logged, at WARN.
     *
     * @throws ClaimDatabaseException if the table, or one of its partitions, cannot keep claims
     */
    static void verify(ClaimTable table, JdbcTemplate jdbc) {
        for (Finding found : jdbc.query(table.sql(FIND_FAULT), DataClassRowMapper.newInstance(Finding.class))) {
            if (found.fault == Fault.INDEX_MISSING) {
                log.warn(
                        "Table {} has no index on expires_at or none on parked_at, so each cleanup reads all of it;"
                                + " create the indexes of classpath:{}",
                        found.name,
                        ClaimSchema.SCRIPT);
                return;
            }
            throw new ClaimDatabaseException(
                    "Table %s cannot keep claims: %s %s; it is in %s"
                            .formatted(table.name(), found.name, found.fault.problem, SameDatabase.describe(jdbc)),
                    found.fault.remedy.formatted(found.name),
                    null);
        }
    }
}
