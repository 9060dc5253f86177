package io.exactlyonce.test.interleaving;

import io.exactlyonce.ParkedClaim;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.test.interleaving.KeyModel.State;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** An operator who looks up one key and decides on it while it is parked. Checks the answers of the store. */
final class Operator {

    private final StoreInTime subject;
    private final ClaimKey key;
    private final KeyModel model;
    private final List<ParkedClaim> seen = new ArrayList<>();

    Operator(StoreInTime subject, ClaimKey key, KeyModel model) {
        this.subject = subject;
        this.key = key;
        this.model = model;
    }

    void look() {
        Optional<ParkedClaim> found = subject.parked().find(key);
        model.require(found.isPresent() == (model.state == State.PARKED), "a key is found if and only if it is parked");
        if (found.isPresent()) {
            ParkedClaim parked = found.get();
            model.require(model.isParked(parked.claimId()), "the claim that was parked is shown");
            model.require(parked.attempt() == model.attempts, "the attempt that was parked is shown");
            model.require(parked.isInDoubt() == model.inDoubt, "the doubt is shown");
            seen.add(parked);
        }
    }

    void release(int variant) {
        decideOn(variant, parked -> {
            boolean told = subject.parked().release(idOf(parked));
            model.require(
                    told == model.isParked(parked.claimId()), "a release counts for the claim that was seen only");
            if (told) {
                model.state = State.RELEASED;
                model.cleared = true;
                model.failures = 0;
            }
        });
    }

    void complete(int variant) {
        decideOn(variant, parked -> {
            String json = "\"by hand " + variant + "\"";
            boolean told = subject.parked().complete(new ClaimResolution.Completed(idOf(parked), json));
            model.require(
                    told == model.isParked(parked.claimId()), "a completion counts for the claim that was seen only");
            if (told) {
                model.state = State.COMPLETED;
                model.result = json;
            }
        });
    }

    private void decideOn(int variant, Consumer<ParkedClaim> decision) {
        boolean onWhatWasSeenFirst = variant == 0;
        if (!onWhatWasSeenFirst) {
            look();
        }
        if (!seen.isEmpty()) {
            decision.accept(seen.get(onWhatWasSeenFirst ? 0 : seen.size() - 1));
        }
    }

    private ClaimId idOf(ParkedClaim claim) {
        return new ClaimId(key, claim.claimId());
    }
}
