package io.exactlyonce.test.interleaving;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.test.InMemoryClaimStore;
import io.exactlyonce.test.contract.ClaimStoreContract;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Stores with one defect each. Tests of the contract must find each defect. */
class BrokenStoreContractTests {

    private final InMemoryClaimStore memory = new InMemoryClaimStore();

    @Test
    void storeThatHandsOutAHeldKeyMakesHandlersOverlap() {
        assertThatThrownBy(contract(new HeldKeyIsHandedOut(memory))::handlersOfOneKeyNeverOverlapAndOneCompletesIt)
                .hasRootCauseInstanceOf(AssertionError.class)
                .rootCause()
                .hasMessageEndingWith("was not run by one worker at a time");
    }

    private ClaimStoreContract contract(ClaimStore store) {
        return new ClaimStoreContract() {
            @Override
            public ClaimStore store() {
                return store;
            }

            @Override
            public void endLease(ClaimId claim) {
                memory.endLease(claim);
            }
        };
    }

    /**
     * Hands a held key to another worker, with a higher token, while the handler of the key's owner runs. The key is
     * handed over only after the owner has resolved another claim. All requests of the former owner are still granted,
     * so that only the overlap reveals the defect.
     */
    private static final class HeldKeyIsHandedOut extends HolderWatch {

        private final InMemoryClaimStore intact;
        private final Map<Thread, Set<ClaimKey>> acquired = new HashMap<>();
        private final Set<ClaimKey> handled = new HashSet<>();

        HeldKeyIsHandedOut(InMemoryClaimStore intact) {
            super(intact);
            this.intact = intact;
        }

        @Override
        public synchronized List<ClaimOutcome> claim(List<ClaimRequest> requests) {
            return requests.stream().map(this::claim).toList();
        }

        private ClaimOutcome claim(ClaimRequest request) {
            ClaimKey key = request.key();
            if (handled.remove(key)) {
                holder(key).ifPresent(intact::endLease);
            }
            ClaimOutcome outcome = super.claim(List.of(request)).get(0);
            if (outcome instanceof Acquired) {
                acquired.computeIfAbsent(Thread.currentThread(), worker -> new HashSet<>())
                        .add(key);
            }
            return outcome;
        }

        @Override
        public synchronized Set<ClaimId> release(List<ClaimResolution.Released> releases) {
            super.release(releases);
            return grant(releases.stream().map(ClaimResolution.Released::claim).collect(Collectors.toSet()));
        }

        @Override
        public synchronized Set<ClaimId> complete(List<ClaimResolution.Completed> completions) {
            super.complete(completions);
            return grant(
                    completions.stream().map(ClaimResolution.Completed::claim).collect(Collectors.toSet()));
        }

        private Set<ClaimId> grant(Set<ClaimId> claims) {
            Set<ClaimKey> ofThisWorker = acquired.remove(Thread.currentThread());
            if (ofThisWorker != null) {
                handled.addAll(ofThisWorker);
            }
            return claims;
        }
    }
}
