package io.exactlyonce.claim.postgres;

import static io.exactlyonce.claim.postgres.schema.TestDatabase.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.postgres.schema.TestDatabase;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.platform.commons.util.ExceptionUtils;

/** Measures what claims leave in the table. */
class ClaimRowsOnDiskIT {

    private static final int CONNECTIONS = 4;
    private static final TestDatabase DATABASE = new TestDatabase(CONNECTIONS);

    private final PostgresClaimStore store = DATABASE.store();

    @AfterAll
    static void close() {
        DATABASE.close();
    }

    @Test
    void duplicatesWriteNothing() {
        ClaimRequest completed = request();
        ClaimRequest held = request();
        store.claim(List.of(completed, held));
        store.resolve(List.of(new ClaimResolution.Completed(completed.id(), "1")));
        Map<String, Object> completedBefore = DATABASE.row(completed.key());
        Map<String, Object> heldBefore = DATABASE.row(held.key());

        store.claim(List.of(request(completed.key()), request(held.key())));

        assertThat(DATABASE.row(completed.key())).isEqualTo(completedBefore);
        assertThat(DATABASE.row(held.key())).isEqualTo(heldBefore);
    }

    @Test
    void fencingTokensOfABatchAreThoseOfItsRows() {
        ClaimRequest taken = request();
        store.claim(List.of(taken));
        List<ClaimRequest> batch = new ArrayList<>(List.of(request(taken.key())));
        Stream.generate(TestDatabase::request).limit(20).forEach(batch::add);

        List<ClaimOutcome> outcomes = store.claim(batch);

        assertThat(outcomes.get(0)).isInstanceOf(HeldElsewhere.class);
        for (int i = 1; i < batch.size(); i++) {
            Object token = DATABASE.row(batch.get(i).key()).get("fencing_token");
            assertThat(outcomes.get(i)).isEqualTo(new Acquired(1, (Long) token, false));
        }
    }

    @Test
    void leaseIsCountedByTheDatabaseClock() {
        String clock = "SELECT extract(epoch FROM clock_timestamp())";
        ClaimRequest claim = request();
        double before = DATABASE.jdbc().queryForObject(clock, Double.class);
        store.claim(List.of(claim));
        double after = DATABASE.jdbc().queryForObject(clock, Double.class);

        Double until = DATABASE.jdbc()
                .queryForObject(
                        "SELECT extract(epoch FROM lease_until) FROM exactly_once_claim WHERE claim_id = ?",
                        Double.class,
                        claim.claimId());
        assertThat(until).isBetween(before + 60, after + 60);
    }

    @Test
    void errorIsCutAndFreedOfWhatPostgresCannotStore() {
        ClaimRequest claim = request();
        store.claim(List.of(claim));

        store.resolve(List.of(
                new ClaimResolution.Released(claim.id(), "a\0b" + "x".repeat(997) + "\uD83D\uDE00 and more", false)));

        assertThat(DATABASE.row(claim.key()).get("error")).isEqualTo("ab" + "x".repeat(997));
    }

    @Test
    void oneResultThatCannotBeStoredFailsItsWholeBatch() {
        ClaimRequest good = request(new ClaimKey("a", UUID.randomUUID().toString()));
        ClaimRequest bad = request(new ClaimKey("b", UUID.randomUUID().toString()));
        store.claim(List.of(good, bad));

        assertThatThrownBy(() -> store.resolve(List.of(
                                new ClaimResolution.Completed(good.id(), "1"),
                                new ClaimResolution.Completed(bad.id(), "a\0b")))
                        .granted())
                .isInstanceOf(IllegalArgumentException.class)
                .satisfies(failure -> assertThat(ExceptionUtils.readStackTrace(failure))
                        .doesNotContain(good.key().key(), bad.key().key()));

        assertThat(DATABASE.row(good.key()).get("status")).isEqualTo("HELD");
        assertThat(store.resolve(List.of(new ClaimResolution.Completed(good.id(), "1")))
                        .granted())
                .containsExactly(good.id());
    }
}
