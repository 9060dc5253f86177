package io.exactlyonce.dynamodb;

import io.exactlyonce.Claim;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimStore;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;

/** Short forms of claim requests for tests. */
final class Requests {

    static final Duration LEASE = Duration.ofMinutes(1);

    private Requests() {}

    static ClaimRequest request() {
        return request(new ClaimKey("orders", UUID.randomUUID().toString()));
    }

    static ClaimRequest request(ClaimKey key) {
        return new ClaimRequest(key, UUID.randomUUID(), "worker", LEASE);
    }

    static List<ClaimRequest> requests(int count) {
        return Stream.generate(Requests::request).limit(count).toList();
    }

    static ClaimOutcome claim(ClaimStore store, ClaimRequest request) {
        return store.claim(List.of(request)).get(0);
    }

    static Acquired acquire(ClaimStore store, ClaimRequest request) {
        return (Acquired) claim(store, request);
    }

    /** Returns the claim that a handler receives. */
    static Claim handed(ClaimRequest request, Acquired acquired) {
        return new Claim() {
            @Override
            public String scope() {
                return request.key().scope();
            }

            @Override
            public String keyHash() {
                return request.key().keyHash();
            }

            @Override
            public String downstreamKey(String call) {
                return request.key().downstreamKey(call);
            }

            @Override
            public String key() {
                return request.key().key();
            }

            @Override
            public int attempt() {
                return acquired.attempt();
            }

            @Override
            public boolean isInDoubt() {
                return acquired.inDoubt();
            }

            @Override
            public long fencingToken() {
                return acquired.fencingToken();
            }

            @Override
            public String downstreamKey() {
                return request.key().downstreamKey();
            }

            @Override
            public void ensureHeld() {
                throw new UnsupportedOperationException();
            }

            @Override
            public void fence() {
                throw new UnsupportedOperationException();
            }
        };
    }
}
