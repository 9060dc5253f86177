package io.exactlyonce.claim.postgres.schema;

import java.util.List;
import java.util.Set;
import org.springframework.jdbc.core.JdbcTemplate;

/** The versions of the claims' table, and which of them a database has. */
public final class ClaimSchema {

    public static final String TABLE = "exactly_once_claim";

    /** All versions, the first one first. Each is recognized by the columns that it adds, however they came to be. */
    private static final List<Version> VERSIONS = List.of(
            new Version("classpath:io/exactlyonce/claim/postgres/schema/v1/exactly_once_claim.sql", Set.of("claim_id")),
            new Version(
                    "classpath:io/exactlyonce/claim/postgres/schema/v2/exactly_once_claim.sql",
                    Set.of("fingerprint", "parked_at", "cleared", "expires_at")));

    /** From the catalog: takes no lock, so that an instance that has nothing to do does not wait. */
    private static final String COLUMNS = """
            SELECT attname FROM pg_attribute
            WHERE attrelid = to_regclass('exactly_once_claim') AND attnum > 0 AND NOT attisdropped
            """;

    private static final String DATABASE = """
            SELECT format('database %s on %s (search_path %s)', current_database(),
                          coalesce(host(inet_server_addr()) || ':' || inet_server_port(), 'local socket'),
                          current_setting('search_path'))
            """;

    private record Version(String script, Set<String> columns) {}

    private ClaimSchema() {}

    /** Returns the version that this library needs. */
    static int needed() {
        return VERSIONS.size();
    }

    /** Returns the version that is there; 0 if there is no table. */
    static int found(JdbcTemplate jdbc) {
        Set<String> columns = Set.copyOf(jdbc.queryForList(COLUMNS, String.class));
        int found = 0;
        while (found < needed() && columns.containsAll(VERSIONS.get(found).columns())) {
            found++;
        }
        return found;
    }

    /** Returns the scripts that bring a table of that version to the needed one, in their order. */
    static List<String> scriptsAfter(int found) {
        return VERSIONS.subList(found, needed()).stream().map(Version::script).toList();
    }

    /** Names the database, its server and the search path, for people. */
    static String database(JdbcTemplate jdbc) {
        return String.valueOf(jdbc.queryForObject(DATABASE, String.class));
    }
}
