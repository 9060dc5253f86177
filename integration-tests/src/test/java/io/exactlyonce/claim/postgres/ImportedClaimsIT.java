package io.exactlyonce.claim.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.KeyRules;
import io.exactlyonce.claim.postgres.schema.TestDatabase;
import io.exactlyonce.claim.postgres.schema.TestDatabase.Layout;
import io.exactlyonce.testing.DocumentedCode;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.Shell;
import java.io.OutputStream;
import java.io.StringReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.postgresql.PGConnection;
import org.springframework.core.io.ClassPathResource;
import org.springframework.integration.jdbc.metadata.JdbcMetadataStore;
import org.springframework.integration.selector.MetadataStoreSelector;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.messaging.support.GenericMessage;

/** Runs the import of {@code docs/adopt.md} word for word, and claims the imported keys with the store. */
@ParameterizedClass
@EnumSource
class ImportedClaimsIT {

    private static final DocumentedCode DOCUMENT = DocumentedCode.of("adopt.md");
    private static final int CONNECTIONS = 2;
    private static final int DONE = 1201;

    private final TestDatabase database;
    private final JdbcTemplate jdbc;
    private final PostgresClaimStore store;

    ImportedClaimsIT(Layout layout) {
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

    private void createTable() {
        run("table");
        jdbc.update("INSERT INTO processed_message SELECT 'A-' || n, 'DONE', now() FROM generate_series(1, ?) n", DONE);
    }

    private static ClaimRequest request(String key) {
        return TestDatabase.request(new ClaimKey("orders", key));
    }

    private ClaimOutcome claim(String key) {
        return store.claim(List.of(request(key))).get(0);
    }

    private List<Map<String, Object>> rows() {
        return jdbc.queryForList("SELECT *, xmin::text FROM exactly_once_claim ORDER BY scope, key");
    }

    @Test
    void keysThatAreDoneAreImportedInPortionsAndOnce() {
        createTable();
        String longKey = "k".repeat(ClaimKey.MAX_LENGTH + 1);
        jdbc.update("INSERT INTO processed_message VALUES (?, 'DONE', now())", longKey);
        jdbc.update("INSERT INTO processed_message VALUES ('old', 'DONE', now() - interval '433 hours')");
        jdbc.update("INSERT INTO processed_message VALUES ('started', 'IN_PROGRESS', now())");

        run("import");

        assertThat(claim("A-1")).isInstanceOf(AlreadyCompleted.class);
        assertThat(claim("A-" + DONE)).isInstanceOf(AlreadyCompleted.class);
        assertThat(claim(KeyRules.toKey("the message", longKey))).isInstanceOf(AlreadyCompleted.class);
        List<Map<String, Object>> imported = rows();
        assertThat(imported)
                .hasSize(DONE + 1)
                .noneSatisfy(row -> assertThat(row.get("key")).isIn("old", "started"));
        assertThat(imported.stream().map(row -> row.get("xmin")).distinct()).hasSize(3);

        run("import");

        assertThat(rows()).isEqualTo(imported);
        assertThat(claim("started")).isInstanceOf(Acquired.class);
    }

    @Test
    void keysInProgressAreInDoubtForTheNextAttempt() {
        createTable();
        jdbc.update("INSERT INTO processed_message VALUES ('started', 'IN_PROGRESS', now() - interval '1 hour')");

        run("in-progress");
        run("in-progress");

        assertThat(rows()).hasSize(1);
        assertThat(claim("started")).isInstanceOfSatisfying(Acquired.class, acquired -> {
            assertThat(acquired.attempt()).isEqualTo(2);
            assertThat(acquired.inDoubt()).isTrue();
        });
        assertThat(claim("started")).isInstanceOf(HeldElsewhere.class);
    }

    @Test
    void claimsThatListenersHoldAreLeftAsTheyAre() {
        createTable();
        jdbc.update("INSERT INTO processed_message VALUES ('started', 'IN_PROGRESS', now())");
        ClaimRequest held = request("A-7");
        ClaimRequest started = request("started");
        store.claim(List.of(held, started));
        Map<String, Object> before = database.row(held.key());

        run("import");
        run("in-progress");

        assertThat(database.row(held.key())).isEqualTo(before);
        assertThat(store.resolve(List.of(
                                new ClaimResolution.Completed(held.id(), null),
                                new ClaimResolution.Completed(started.id(), null)))
                        .granted())
                .containsExactlyInAnyOrder(held.id(), started.id());
        assertThat(claim("A-7")).isInstanceOf(AlreadyCompleted.class);
    }

    /**
     * While both versions run, a listener fails if an old instance works on its message. The old instance may then
     * delete both messages.
     */
    @Test
    void keysThatListenersHaveReleasedOrLeftAreDone() {
        createTable();
        ClaimRequest released = request("A-7");
        ClaimRequest abandoned = request("A-8");
        store.claim(List.of(released, abandoned));
        store.resolve(List.of(new ClaimResolution.Released(released.id(), "An old instance is at work on it", false)));
        jdbc.update("UPDATE exactly_once_claim SET lease_until = now() - interval '1 second' WHERE key = 'A-8'");

        run("import");
        List<Map<String, Object>> imported = rows();
        run("import");

        assertThat(rows()).isEqualTo(imported);
        assertThat(claim("A-7")).isInstanceOf(AlreadyCompleted.class);
        assertThat(claim("A-8")).isInstanceOf(AlreadyCompleted.class);
        assertThat(store.resolve(List.of(new ClaimResolution.Released(abandoned.id(), "late", true)))
                        .granted())
                .as("what a worker that was paused still says")
                .isEmpty();
    }

    /** Each key is either claimed by a listener or imported, depending on which came first. */
    @Test
    void importAndListenersClaimTheSameKeysAtTheSameTime() {
        createTable();
        CompletableFuture<Void> importing = CompletableFuture.runAsync(() -> run("import"));
        List<ClaimRequest> requests = IntStream.rangeClosed(1, DONE)
                .mapToObj(number -> request("A-" + (DONE + 1 - number)))
                .toList();
        List<ClaimOutcome> outcomes = new ArrayList<>();
        for (int from = 0; from < DONE; from += 10) {
            outcomes.addAll(store.claim(requests.subList(from, Math.min(from + 10, DONE))));
        }
        importing.join();

        assertThat(outcomes).hasOnlyElementsOfTypes(Acquired.class, AlreadyCompleted.class);
        assertThat(jdbc.queryForList("SELECT owner FROM exactly_once_claim ORDER BY owner", String.class))
                .hasSize(DONE)
                .filteredOn("worker"::equals)
                .hasSize((int)
                        outcomes.stream().filter(Acquired.class::isInstance).count());
    }

    @Test
    void keysOfAMetadataStoreAreImported() {
        new ResourceDatabasePopulator(
                        new ClassPathResource("org/springframework/integration/jdbc/schema-postgresql.sql"))
                .execute(database.application());
        MetadataStoreSelector selector = selector("DEFAULT", "order-");
        MetadataStoreSelector otherRegion = selector("OTHER", "order-");
        MetadataStoreSelector otherKeys = selector("DEFAULT", "file-");
        selector.accept(new GenericMessage<>("A-1"));
        // Writes the row of the selector many times.
        jdbc.update(
                "INSERT INTO int_metadata_store SELECT 'order-A-' || n, metadata_value, region "
                        + "FROM generate_series(2, ?) n, int_metadata_store",
                DONE);
        otherRegion.accept(new GenericMessage<>("B-1"));
        otherKeys.accept(new GenericMessage<>("C-1"));
        jdbc.update("INSERT INTO int_metadata_store VALUES ('order-D-1', 'a value of its own', 'DEFAULT')");
        jdbc.update("INSERT INTO int_metadata_store VALUES ('order-E-1', '1500000000000', 'DEFAULT')");

        run("metadata-store");
        run("import");
        run("import");

        assertThat(claim("order-A-1")).isInstanceOf(AlreadyCompleted.class);
        assertThat(claim("order-A-" + DONE)).isInstanceOf(AlreadyCompleted.class);
        assertThat(claim("order-D-1")).isInstanceOf(AlreadyCompleted.class);
        assertThat(rows()).hasSize(DONE + 1);
        assertThat(jdbc.queryForObject(
                        "SELECT bool_and(completed_at BETWEEN now() - interval '1 minute' AND now()) FROM exactly_once_claim",
                        Boolean.class))
                .isTrue();
    }

    private MetadataStoreSelector selector(String region, String prefix) {
        JdbcMetadataStore metadata = new JdbcMetadataStore(database.application());
        metadata.setRegion(region);
        metadata.afterPropertiesSet();
        return new MetadataStoreSelector(message -> prefix + message.getPayload(), metadata);
    }

    @Test
    void completedItemsOfPowertoolsAreImportedByTheirIdsOrByATableOfKeys(@TempDir Path directory) throws Exception {
        run("load");
        load(
                directory,
                item("fulfilment.process#70c24d88041893f7fbab4105b76fd9e1", "COMPLETED"),
                item("fulfilment.process#00000000000000000000000000000000", "INPROGRESS"),
                item("fulfilment.other#70c24d88041893f7fbab4105b76fd9e1", "COMPLETED"));
        jdbc.execute("CREATE TABLE shop_order (order_id text PRIMARY KEY)");
        jdbc.execute("INSERT INTO shop_order VALUES ('Lambda rocks'), ('another order')");

        run("powertools");
        run("import");
        run("powertools-joined");
        run("import");
        run("import");

        assertThat(claim("fulfilment.process#70c24d88041893f7fbab4105b76fd9e1")).isInstanceOf(AlreadyCompleted.class);
        assertThat(claim("Lambda rocks")).isInstanceOf(AlreadyCompleted.class);
        assertThat(rows()).hasSize(2);
    }

    /** Runs the documented command on an export. Without {@code psql}, uses JDBC with the documented options. */
    private void load(Path directory, String... lines) throws Exception {
        if (Shell.has("psql", "postgresql-client", "its \\copy command is run by JDBC")) {
            Path data = Files.createDirectory(directory.resolve("data"));
            try (OutputStream export = new GZIPOutputStream(Files.newOutputStream(data.resolve("1.json.gz")))) {
                export.write((String.join("\n", lines) + "\n").getBytes(StandardCharsets.UTF_8));
            }
            URI server = URI.create(database.url().replace("jdbc:", ""));
            Map<String, String> variables = Map.of(
                    "PGHOST", server.getHost(),
                    "PGPORT", String.valueOf(server.getPort()),
                    "PGDATABASE", server.getPath().substring(1),
                    "PGUSER", EmbeddedDatabase.shared().username(),
                    "PGPASSWORD", EmbeddedDatabase.shared().password(),
                    "PSQLRC", "/dev/null");
            new Shell(directory, variables).run(DOCUMENT.block("load-data"));
            return;
        }
        try (Connection connection = database.newConnection()) {
            connection
                    .unwrap(PGConnection.class)
                    .getCopyAPI()
                    .copyIn(
                            "COPY powertools_export FROM STDIN " + DOCUMENT.part("zcat [^']*' (WITH \\([^)]*\\))"),
                            new StringReader(String.join("\n", lines)));
        }
    }

    private static String item(String id, String status) {
        return "{\"Item\":{\"id\":{\"S\":\"%s\"},\"status\":{\"S\":\"%s\"},\"expiration\":{\"N\":\"1795353600\"},"
                        .formatted(id, status)
                + "\"data\":{\"S\":\"{\\\"text\\\":\\\"a \\\\\\\"quote\\\\\\\"\\\"}\"}}}";
    }
}
