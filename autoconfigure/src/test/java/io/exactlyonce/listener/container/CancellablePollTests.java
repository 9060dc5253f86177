package io.exactlyonce.listener.container;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.sqs.model.Message;

class CancellablePollTests {

    private static final Collection<Message> MESSAGES =
            List.of(Message.builder().messageId("o1").build());

    private final CompletableFuture<Collection<Message>> request = new CompletableFuture<>();
    private final List<Message> late = new ArrayList<>();
    private final CancellablePoll poll = CancellablePoll.of(request, late::addAll);

    @Test
    void pollEndsWithItsMessages() {
        request.complete(MESSAGES);

        assertThat(poll).isCompletedWithValue(MESSAGES);
        assertThat(late).isEmpty();
    }

    @Test
    void pollFailsWithItsRequest() {
        request.completeExceptionally(new IllegalStateException("connection reset"));

        assertThat(poll).isCompletedExceptionally();
    }

    /** Trap: awspring cancels its polls while it goes through a list that each takes itself out of, and fails over that. */
    @Test
    void pollsAreCancelledAsAwspringDoesItAndEndWithoutMessages() {
        Collection<CompletableFuture<?>> polls = Collections.synchronizedCollection(new ArrayList<>());
        polls.add(poll);
        var unused = poll.whenComplete((messages, failure) -> polls.remove(poll));

        polls.forEach(each -> each.cancel(true));

        await().until(polls::isEmpty);
        assertThat(poll).isCompletedWithValueMatching(Collection::isEmpty);
    }

    @Test
    void messagesThatArriveAfterThePollWasCancelledAreNotLost() {
        poll.cancel(true);
        await().until(poll::isDone);

        request.complete(MESSAGES);

        assertThat(late).containsExactlyElementsOf(MESSAGES);
    }
}
