package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.claim.Release;
import io.exactlyonce.delivery.BatchKeeper;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Says which messages of a batch its handler may be given, asked in their order. On a FIFO queue a message that stays in
 * its queue stops the later ones of its group, which must not overtake it: their claims are given back, and they are
 * visible again when the batch is done. The messages of a standard queue have no group, and stop nobody.
 */
final class BatchAdmission {

    private final BatchFailures failures;
    private final Set<String> stoppedGroups = new HashSet<>();
    private final List<Release> givenBack = new ArrayList<>();

    BatchAdmission(BatchFailures failures) {
        this.failures = failures;
    }

    /**
     * Admits messages right before their handler is called. The claims of the others are given back, which takes time: so
     * those that are admitted are asked again after it.
     */
    static List<BatchMember> admit(List<BatchMember> members, BatchKeeper keeper, BatchFailures failures) {
        BatchAdmission admission = new BatchAdmission(failures);
        List<BatchMember> admitted = members.stream().filter(admission::admits).toList();
        if (admission.givenBack().isEmpty()) {
            return admitted;
        }
        keeper.release(admission.givenBack());
        return admit(admitted, keeper, failures);
    }

    boolean admits(BatchMember member) {
        if (stoppedGroups.contains(member.group())) {
            sendBack(member);
            return false;
        }
        if (member.isHeld()) {
            return true;
        }
        if (member.isAcquired()) {
            failures.add(member.lost("its lease was over, or its listener had stopped, before the handler was called"));
            givenBack.add(member.giveBack(FailedAttempt.NOT_CALLED));
        }
        stopGroupOf(member);
        return false;
    }

    /** A message is not handled; unless its key is completed, or its queue gives it up now, the rest of its group waits. */
    void stopGroupOf(BatchMember member) {
        if (!member.group().isEmpty() && !member.delivery().leavesItsQueue()) {
            stoppedGroups.add(member.group());
        }
    }

    private void sendBack(BatchMember member) {
        if (member.isAcquired()) {
            givenBack.add(member.giveBack("an earlier message of its group comes first"));
        }
        if (!member.delivery().isAcknowledged()) {
            member.yieldToItsGroup();
        }
    }

    /** Returns the claims of those that are not admitted although they acquired their keys. */
    List<Release> givenBack() {
        return givenBack;
    }
}
