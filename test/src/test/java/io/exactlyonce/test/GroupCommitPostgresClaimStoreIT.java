package io.exactlyonce.test;

import io.exactlyonce.claim.AsyncClaimStore;
import io.exactlyonce.claim.ClaimAnswers;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.KeyState;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.claim.groupcommit.GroupCommitClaimStore;
import io.exactlyonce.claim.groupcommit.GroupCommitSettings;
import io.exactlyonce.test.contract.ClaimStoreContract;
import io.exactlyonce.time.SystemScheduler;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;

/** The contract of claim stores, on PostgreSQL with group commit. */
@Tag("postgres")
class GroupCommitPostgresClaimStoreIT extends ClaimStoreContract {

    private static final PostgresServer SERVER = PostgresServer.shared();
    private static final GroupCommitClaimStore FRONT = new GroupCommitClaimStore(
            SERVER.store(), new GroupCommitSettings(2, 256, Duration.ofSeconds(3)), new SystemScheduler());

    /**
     * Calls the store as the engine does. Calls that can share a transaction go through the group commit, and others go
     * directly to the store.
     */
    private record Engine(ClaimStore store, AsyncClaimStore front) implements ClaimStore {

        @Override
        public List<ClaimOutcome> claim(List<ClaimRequest> requests) {
            return answer(front.claimAsync(requests)).outcomes();
        }

        @Override
        public ClaimAnswers resolve(List<? extends ClaimResolution> resolutions) {
            return answer(front.resolveAsync(resolutions, true));
        }

        @Override
        public ClaimAnswers renew(List<LeaseRenewal> renewals) {
            return store.renew(renewals);
        }

        @Override
        public Map<ClaimKey, KeyState> peek(Collection<ClaimKey> keys) {
            return store.peek(keys);
        }

        private static <T> T answer(CompletableFuture<T> call) {
            try {
                return call.join();
            } catch (CompletionException failed) {
                throw failed.getCause() instanceof RuntimeException failure ? failure : failed;
            }
        }
    }

    @Override
    public ClaimStore store() {
        return new Engine(SERVER.store(), FRONT);
    }

    @Override
    public void endLease(ClaimId claim) {
        SERVER.endLease(claim);
    }

    @AfterAll
    static void close() {
        FRONT.close();
    }
}
