package io.exactlyonce.claim.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.claim.postgres.schema.TestDatabase;
import io.exactlyonce.claim.postgres.schema.TestDatabase.Layout;
import io.exactlyonce.testing.DocumentedCode;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Resolutions and renewals write no index. */
class HeapOnlyUpdatesIT {

    private static final int CLAIMS = 300;

    @ParameterizedTest
    @CsvSource({"1, PLAIN", "10, PLAIN", "50, PLAIN", "50, PARTITIONED"})
    void renewalsCompletionsAndReleasesAreAllHeapOnly(int batchSize, Layout layout) {
        try (TestDatabase database = new TestDatabase(2, layout)) {
            var store = database.store();
            for (int done = 0; done < CLAIMS; done += batchSize) {
                live(
                        store,
                        Stream.generate(TestDatabase::request).limit(batchSize).toList(),
                        done % 100 == 0);
            }

            database.pool().close(); // a server process reports its statistics when it ends

            Awaitility.await().untilAsserted(() -> {
                Map<String, Object> statistics = database.jdbc()
                        .queryForMap(DocumentedCode.of("postgresql.md").block("heap-only"));
                assertThat(statistics.get("updates")).hasToString(String.valueOf(2 * CLAIMS));
                assertThat(statistics.get("hot_percent")).hasToString("100.0");
            });
        }
    }

    private static void live(PostgresClaimStore store, List<ClaimRequest> batch, boolean fails) {
        store.claim(batch);
        store.renew(batch.stream()
                .map(claim -> new LeaseRenewal(claim.id(), Duration.ofMinutes(2)))
                .toList());
        if (fails) {
            store.resolve(batch.stream()
                    .map(claim -> new ClaimResolution.Released(claim.id(), "failed", false))
                    .toList());
        } else {
            store.resolve(batch.stream()
                    .map(claim -> new ClaimResolution.Completed(claim.id(), "1"))
                    .toList());
        }
    }
}
