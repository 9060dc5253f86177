package io.exactlyonce.claim.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.postgres.schema.TestDatabase;
import io.exactlyonce.claim.postgres.schema.TestDatabase.Layout;
import io.exactlyonce.postgres.SynchronousCommit;
import io.exactlyonce.testing.DocumentedCode;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.Shell;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyManager;
import org.springframework.jdbc.core.JdbcTemplate;

/** Runs the statements and {@code psql} commands of {@code docs/runbooks.md} as they stand there, and checks the next claims. */
@ParameterizedClass
@EnumSource
class RunbooksIT {

    private static final DocumentedCode DOCUMENT = DocumentedCode.of("runbooks.md");
    private static final int CONNECTIONS = 2;

    /** The two primaries of the failover, with their names on the page. */
    private static final Map<String, String> SCHEMAS = Map.of("OLD", "old_primary", "NEW", "public");

    private static final Pattern COPY = Pattern.compile(
            "psql \"\\$(?<primary>\\w+)\" -c \"\\\\copy (?<rows>.*) (?<direction>TO|FROM) (?<file>\\S+) CSV\"");

    private final TestDatabase database;
    private final JdbcTemplate jdbc;
    private final PostgresClaimStore store;

    RunbooksIT(Layout layout) {
        database = new TestDatabase(CONNECTIONS, layout);
        jdbc = database.jdbc();
        store = database.store();
    }

    @AfterEach
    void close() {
        database.close();
    }

    private void run(String block) {
        jdbc.execute(DOCUMENT.block(block));
    }

    private List<Map<String, Object>> query(String block) {
        return jdbc.queryForList(DOCUMENT.block(block));
    }

    private static ClaimRequest request(String key) {
        return TestDatabase.request(new ClaimKey("orders", key));
    }

    private static ClaimRequest requestThatParks(String key) {
        ClaimRequest request = request(key);
        return new ClaimRequest(
                request.id(), request.owner(), request.lease(), ClaimRequest.InDoubt.PARK, request.fingerprint());
    }

    private ClaimRequest claimed(String key) {
        ClaimRequest request = request(key);
        assertThat(claim(request)).isInstanceOf(Acquired.class);
        return request;
    }

    private ClaimOutcome claim(ClaimRequest request) {
        return store.claim(List.of(request)).get(0);
    }

    private ClaimOutcome claim(String key) {
        return claim(request(key));
    }

    private void end(ClaimResolution resolution) {
        assertThat(store.resolve(List.of(resolution)).granted()).containsExactly(resolution.claim());
    }

    private void complete(ClaimRequest request) {
        end(new ClaimResolution.Completed(request.id(), null));
    }

    private static void assertInDoubt(ClaimOutcome outcome) {
        assertThat(outcome)
                .isInstanceOfSatisfying(
                        Acquired.class,
                        acquired -> assertThat(acquired.inDoubt()).isTrue());
    }

    /**
     * Two orders were charged after the backup. One order was released before it, and the result of the fourth is
     * unknown.
     */
    @Test
    void claimsAfterARestoreAreImportedOrInDoubt() {
        complete(claimed("A-1"));
        ClaimRequest released = claimed("A-2");
        end(new ClaimResolution.Released(released.id(), "timeout", false));
        ClaimRequest charged = claimed("A-3");
        end(new ClaimResolution.Released(charged.id(), "timeout", false));
        end(new ClaimResolution.Parked(claimed("A-7").id(), "card expired", false));
        jdbc.execute("CREATE TABLE charge (order_id text, charged_at timestamptz)");
        jdbc.execute(
                "INSERT INTO charge VALUES ('A-3', now()), ('A-4', now()), ('A-7', now()), ('A-9', now() - interval '3 hours')");
        jdbc.execute("CREATE TABLE shop_order (order_id text, created_at timestamptz)");
        jdbc.execute("INSERT INTO shop_order SELECT 'A-' || n, now() FROM generate_series(1, 5) n");

        assertThat(query("last-claim"))
                .singleElement()
                .satisfies(row -> assertThat(row)
                        .containsEntry("released", 2L)
                        .containsEntry("held", 0L)
                        .doesNotContainEntry("last_completion", null));
        run("restored-done");
        run("restored-doubt");
        run("restored-done");
        run("restored-doubt");

        assertThat(List.of(claim("A-1"), claim("A-3"), claim("A-4"), claim("A-7")))
                .hasOnlyElementsOfType(AlreadyCompleted.class);
        assertInDoubt(claim("A-2"));
        assertInDoubt(claim("A-5"));
        assertThat(claim("A-9")).as("older than the backup").isInstanceOf(Acquired.class);
    }

    /** A key that an operator had released is parked as well, because it may have run since. */
    @Test
    void keysInDoubtAfterARestoreAreParkedWhereThatIsThePolicy() {
        ClaimRequest decided = claimed("A-1");
        end(new ClaimResolution.Parked(decided.id(), "its owner vanished", true));
        assertThat(new PostgresParkedClaims(database.table()).release(decided.id()))
                .isTrue();
        jdbc.execute("CREATE TABLE shop_order AS SELECT 'A-2' AS order_id, now() AS created_at");

        run("restored-doubt");

        assertThat(claim(requestThatParks("A-1"))).isInstanceOf(ClaimOutcome.Parked.class);
        assertThat(claim(requestThatParks("A-2"))).isInstanceOf(ClaimOutcome.Parked.class);
    }

    /** The old primary is another schema, which has the claims that the new one lacks. */
    @Test
    void claimsThatAFailoverLostAreAddedAndThoseThatRanAgainAreListed(@TempDir Path directory) throws Exception {
        claimed("A-1");
        ClaimRequest renewed = claimed("A-2");
        ClaimRequest releasedThen = claimed("A-3");
        end(new ClaimResolution.Released(releasedThen.id(), "timeout", false));
        jdbc.execute("CREATE SCHEMA old_primary");
        jdbc.execute("CREATE TABLE old_primary.exactly_once_claim (LIKE exactly_once_claim)");
        jdbc.execute("INSERT INTO old_primary.exactly_once_claim SELECT * FROM exactly_once_claim");
        jdbc.update(
                "UPDATE old_primary.exactly_once_claim SET status = 'COMPLETED', completed_at = now() WHERE key IN ('A-1', 'A-3')");
        jdbc.update(
                "UPDATE old_primary.exactly_once_claim SET claim_id = ?, claimed_at = now() WHERE key = 'A-3'",
                UUID.randomUUID());
        for (String lost : List.of("A-4", "A-5", "A-6")) {
            jdbc.update(
                    "INSERT INTO old_primary.exactly_once_claim SELECT scope, ?, status, gen_random_uuid(), owner, attempt, fencing_token, in_doubt,"
                            + " now(), result, error, first_claimed_at, now(), completed_at, fingerprint, parked_at, cleared, expires_at, failures"
                            + " FROM old_primary.exactly_once_claim WHERE key = ?",
                    lost,
                    lost.equals("A-6") ? "A-2" : "A-1");
        }
        complete(claimed("A-5"));

        psql("lost-export", directory);
        run("lost-table");
        psql("lost-load", directory);
        assertThat(query("lost-again"))
                .singleElement()
                .satisfies(
                        row -> assertThat(row).containsEntry("key", "A-5").containsEntry("status_before", "COMPLETED"));
        Map<String, Object> ranAgain = database.row(new ClaimKey("orders", "A-5"));
        Map<String, Object> held = database.row(renewed.key());
        run("lost-import");

        assertThat(List.of(claim("A-1"), claim("A-3"), claim("A-4"), claim("A-5")))
                .hasOnlyElementsOfType(AlreadyCompleted.class);
        assertThat(database.row(new ClaimKey("orders", "A-5"))).isEqualTo(ranAgain);
        assertThat(database.row(renewed.key())).as("a claim that is renewed").isEqualTo(held);
        assertThat(claim("A-2")).isInstanceOf(HeldElsewhere.class);
        assertInDoubt(claim("A-6"));
    }

    /** Runs a command. Without {@code psql}, copies the data by JDBC. */
    private void psql(String block, Path directory) throws Exception {
        String command = DOCUMENT.block(block);
        if (Shell.has("psql", "postgresql-client", "its \\copy commands are run by JDBC")) {
            new Shell(directory, variables()).run(command);
            return;
        }
        Matcher copy = COPY.matcher(command);
        assertThat(copy.matches()).as(command).isTrue();
        try (Connection connection = database.newConnection()) {
            connection.setSchema(SCHEMAS.get(copy.group("primary")));
            CopyManager manager = connection.unwrap(PGConnection.class).getCopyAPI();
            Path file = directory.resolve(copy.group("file"));
            if (copy.group("direction").equals("TO")) {
                try (OutputStream exported = Files.newOutputStream(file)) {
                    manager.copyOut("COPY " + copy.group("rows") + " TO STDOUT CSV", exported);
                }
            } else {
                try (InputStream exported = Files.newInputStream(file)) {
                    manager.copyIn("COPY " + copy.group("rows") + " FROM STDIN CSV", exported);
                }
            }
        }
    }

    /** Returns both primaries, as the page names them, and the other variables of {@code psql}. */
    private Map<String, String> variables() {
        Map<String, String> variables = new HashMap<>(Map.of(
                "PGUSER", EmbeddedDatabase.shared().username(),
                "PGPASSWORD", EmbeddedDatabase.shared().password(),
                "PSQLRC", "/dev/null"));
        SCHEMAS.forEach((primary, schema) ->
                variables.put(primary, database.url().replace("jdbc:", "") + "?options=-csearch_path%3D" + schema));
        return variables;
    }

    @Test
    void parkedKeysAreCountedByErrorAndNamedByDownstreamKey() {
        for (String key : List.of("A-1", "A-2")) {
            end(new ClaimResolution.Parked(claimed(key).id(), "java.net.ConnectException: refused " + key, true));
        }
        end(new ClaimResolution.Parked(claimed("A-3").id(), "card expired", false));

        assertThat(query("parked-by-error"))
                .extracting(row -> row.get("error_class"), row -> row.get("keys"))
                .containsExactly(tuple("java.net.ConnectException", 2L), tuple("card expired", 1L));
        assertThat(query("parked-downstream"))
                .extracting(row -> row.get("downstream_key"))
                .hasSize(3)
                .first()
                .asString()
                .startsWith(new ClaimKey("orders", "A-1").keyHash())
                .hasSize(64);
    }

    @Test
    void idsOfMessagesAreDistinguishedFromBusinessKeys() {
        claimed("A-1");
        claimed(UUID.randomUUID().toString());

        assertThat(query("message-ids")).singleElement().isEqualTo(Map.of("keys", 2L, "message_ids", 1L));
    }

    @Test
    void keysThatAreHeldAgainAndAgainComeFirst() {
        claimed("new");
        ClaimRequest hot = claimed("hot");
        end(new ClaimResolution.Released(hot.id(), "timeout", false));
        claimed("hot");
        jdbc.update("UPDATE exactly_once_claim SET first_claimed_at = now() - interval '1 hour' WHERE key = 'hot'");
        complete(claimed("done"));

        assertThat(query("hot")).extracting(row -> row.get("key")).containsExactly("hot", "new");
    }

    @Test
    void scopeThatMovesToATableOfItsOwnKeepsItsKeys() {
        complete(claimed("A-1"));
        ClaimRequest invoice = TestDatabase.request(new ClaimKey("invoices", "I-1"));
        store.claim(List.of(invoice));
        complete(invoice);

        assertThat(query("scopes")).extracting(row -> row.get("scope")).containsExactlyInAnyOrder("orders", "invoices");
        run("move-scope");
        run("moved-scope");

        assertThat(jdbc.queryForList("SELECT key FROM billing.claims", String.class))
                .containsExactly("I-1");
        assertThat(jdbc.queryForList("SELECT key FROM exactly_once_claim", String.class))
                .containsExactly("A-1");
        PostgresClaimStore moved = new PostgresClaimStore(
                new ClaimTable("billing.claims", database.pool(), TestDatabase.RETENTION, SynchronousCommit.ON));
        assertThat(moved.claim(List.of(TestDatabase.request(new ClaimKey("invoices", "I-1"))))
                        .get(0))
                .isInstanceOf(AlreadyCompleted.class);
    }

    @Test
    void columnsAndIndexesAreAddedWhileClaimsAreHeld() {
        ClaimRequest held = claimed("A-1");
        List<Map<String, Object>> before = query("columns");

        run("new-column");
        if (!jdbc.queryForObject(
                "SELECT relkind = 'p' FROM pg_class WHERE oid = 'exactly_once_claim'::regclass", Boolean.class)) {
            run("new-index");
        }

        complete(held);
        assertThat(claim("A-1")).isInstanceOf(AlreadyCompleted.class);
        new ClaimSchema(database.table()).verify();
        assertThat(query("columns")).hasSize(before.size() + 1).containsAll(before);
    }
}
