package io.exactlyonce.test.interleaving;

import io.exactlyonce.claim.ClaimAnswers;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.KeyState;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.claim.ParkedClaims;
import io.exactlyonce.dynamodb.testing.StoreOnTable;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** DynamoDB under random interleavings. No test can set its clock, so the test makes items older instead. */
class DynamoDbClaimStorePropertyIT {

    private static final StoreOnTable TABLE = StoreOnTable.create();
    private static final StoreInTime DYNAMO_DB = new StoreInTime() {
        @Override
        public ClaimStore store() {
            return new WithoutMargin(TABLE.store());
        }

        @Override
        public ParkedClaims parked() {
            return TABLE.parked();
        }

        @Override
        public void pass(String scope, Duration time) {
            TABLE.age(
                    IntStream.range(0, Step.KEYS)
                            .mapToObj(key -> new ClaimKey(scope, String.valueOf(key)))
                            .toList(),
                    time);
        }
    };

    @Test
    void everyInterleavingKeepsTheRules() {
        Seeds.ofThisRun(20).check(Step::interleaving, steps -> Interleaving.check(DYNAMO_DB, steps));
    }

    /**
     * A store whose reported remaining lease omits the margin before a takeover, because the rules do not have this
     * margin.
     */
    private record WithoutMargin(ClaimStore store) implements ClaimStore {

        /** The error of the clocks plus the largest width of the measured time. */
        private static final Duration MARGIN = StoreOnTable.ERROR.multipliedBy(2);

        @Override
        public List<ClaimOutcome> claim(List<ClaimRequest> requests) {
            return store.claim(requests).stream().map(WithoutMargin::without).toList();
        }

        private static ClaimOutcome without(ClaimOutcome outcome) {
            return outcome instanceof HeldElsewhere held
                            && !held.leaseRemaining().isZero()
                    ? new HeldElsewhere(held.leaseRemaining().minus(MARGIN))
                    : outcome;
        }

        @Override
        public ClaimAnswers renew(List<LeaseRenewal> renewals) {
            return store.renew(renewals);
        }

        @Override
        public ClaimAnswers resolve(List<? extends ClaimResolution> resolutions) {
            return store.resolve(resolutions);
        }

        @Override
        public Map<ClaimKey, KeyState> peek(Collection<ClaimKey> keys) {
            return store.peek(keys);
        }
    }
}
