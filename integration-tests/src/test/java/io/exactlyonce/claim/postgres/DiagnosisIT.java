package io.exactlyonce.claim.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.postgres.schema.TestDatabase;
import io.exactlyonce.claim.postgres.schema.TestDatabase.Layout;
import io.exactlyonce.testing.DocumentedCode;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.jdbc.core.JdbcTemplate;

/** Runs the queries on the claim table of {@code docs/troubleshooting.md} and other pages, as they stand there. */
@ParameterizedClass
@EnumSource
class DiagnosisIT {

    private static final DocumentedCode DOCUMENT = DocumentedCode.of("troubleshooting.md");
    private static final String DOCUMENTED_HASH = "6c1a57d2f08b94e3";
    private static final int CONNECTIONS = 2;

    private final TestDatabase database;
    private final PostgresClaimStore store;
    private final ClaimRequest done;
    private final ClaimRequest doubtful;
    private final ClaimRequest held;

    DiagnosisIT(Layout layout) {
        database = new TestDatabase(CONNECTIONS, layout);
        store = database.store();
        done = claim("dönner-1");
        doubtful = claim("A-2");
        held = claim("A-3");
    }

    @AfterEach
    void close() {
        database.close();
    }

    @Test
    void rowOfAKeyIsFoundByTheHashInALogLine() {
        end(new ClaimResolution.Completed(done.id(), null));
        String query = DOCUMENT.block("key-of-a-hash");
        assertThat(query).contains(DOCUMENTED_HASH);

        assertThat(keys(query.replace(DOCUMENTED_HASH, done.key().keyHash()))).containsExactly("dönner-1");
    }

    @Test
    void keysInDoubtAreListed() {
        end(new ClaimResolution.Released(doubtful.id(), "connection reset", true));

        assertThat(keys(DOCUMENT.block("in-doubt"))).containsExactly("A-2");
    }

    @Test
    void heldKeysAreListedOldestFirst() {
        end(new ClaimResolution.Completed(done.id(), null));

        assertThat(keys(DOCUMENT.block("held"))).containsExactly("A-2", "A-3");
        assertThat(query(DOCUMENT.block("held")))
                .allSatisfy(row -> assertThat(row.get("lease_is_over")).isEqualTo(false));
    }

    @Test
    void parkedKeysAreListedOldestFirst() {
        end(new ClaimResolution.Parked(held.id(), "card expired", false));
        end(new ClaimResolution.Parked(doubtful.id(), "its owner vanished", true));

        assertThat(keys(DocumentedCode.of("after-a-crash.md").block("parked"))).containsExactly("A-3", "A-2");
    }

    @Test
    void sessionsAreListedByTheirName() {
        Integer session = new JdbcTemplate(database.pool()).queryForObject("SELECT pg_backend_pid()", Integer.class);

        assertThat(query(DOCUMENT.block("sessions")))
                .anySatisfy(row -> assertThat(row.get("pid")).isEqualTo(session));
    }

    private ClaimRequest claim(String key) {
        ClaimRequest request = TestDatabase.request(new ClaimKey("orders", key));
        store.claim(List.of(request));
        return request;
    }

    private void end(ClaimResolution resolution) {
        assertThat(store.resolve(List.of(resolution)).granted()).containsExactly(resolution.claim());
    }

    private List<Object> keys(String query) {
        return query(query).stream().map(row -> row.get("key")).toList();
    }

    private List<Map<String, Object>> query(String query) {
        return database.jdbc().queryForList(query);
    }
}
