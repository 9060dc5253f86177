package io.exactlyonce.listener.acknowledgement;

import io.awspring.cloud.sqs.listener.ContainerOptions;
import io.awspring.cloud.sqs.listener.SqsContainerOptions;
import io.awspring.cloud.sqs.listener.acknowledgement.BatchingAcknowledgementProcessor;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.listener.message.ReceivedMessage;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.springframework.messaging.Message;
import org.springframework.scheduling.TaskScheduler;

/**
 * Buffers deletes as awspring does, but sends what is buffered when its listener stops. Awspring waits for a flush that it
 * has ceased to schedule, until its timeout, and drops the rest: each of those messages would come again, as a duplicate.
 *
 * <p>It also sends what awspring forgets for as long as the wall clock was set back: awspring compares the time of its last
 * flush with the wall clock. What is still buffered at a second look, an interval of the monotonic clock after the first
 * one, is due.
 */
public final class FlushingAcknowledgementProcessor<T> extends BatchingAcknowledgementProcessor<T> {

    /** What is to be deleted is here or {@link #unconfirmed} at any time, until that is confirmed. Guards both. */
    private final Map<Delivery, Message<T>> buffered = new LinkedHashMap<>();

    private final UnconfirmedDeletes unconfirmed = new UnconfirmedDeletes();
    private List<Delivery> seen = List.of();
    private Duration patience = Duration.ZERO;
    private Duration interval = Duration.ZERO;

    @Override
    protected void doConfigure(ContainerOptions<?, ?> options) {
        patience = options.getAcknowledgementShutdownTimeout();
        interval = Objects.requireNonNullElse(options.getAcknowledgementInterval(), interval);
        // Nothing is left to wait for once it has been sent here.
        super.doConfigure(((SqsContainerOptions) options)
                .toBuilder().acknowledgementShutdownTimeout(Duration.ZERO).build());
    }

    @Override
    protected CompletableFuture<Void> doOnAcknowledge(Message<T> message) {
        synchronized (buffered) {
            buffered.put(delivery(message), message);
        }
        return super.doOnAcknowledge(message);
    }

    @Override
    protected TaskScheduler createTaskScheduler() {
        TaskScheduler scheduler = super.createTaskScheduler();
        // With an interval of zero only the threshold counts.
        if (!interval.isZero()) {
            var unused = scheduler.scheduleWithFixedDelay(this::sendOverdue, interval);
        }
        return scheduler;
    }

    private void sendOverdue() {
        List<Message<T>> overdue;
        synchronized (buffered) {
            overdue = seen.stream()
                    .filter(buffered::containsKey)
                    .map(buffered::get)
                    .toList();
            seen = List.copyOf(buffered.keySet());
        }
        var unused = sendToExecutor(overdue);
    }

    /** What has been sent already is not sent again: awspring still has it in its own buffer then. */
    @Override
    protected CompletableFuture<Void> sendToExecutor(Collection<Message<T>> messages) {
        CompletableFuture<Void> answered = new CompletableFuture<>();
        List<Message<T>> unsent = take(messages, answered);
        if (unsent.isEmpty()) {
            return CompletableFuture.completedFuture(null);
        }
        return super.sendToExecutor(unsent).whenComplete((confirmed, failure) -> answered.complete(null));
    }

    private List<Message<T>> take(Collection<Message<T>> messages, CompletableFuture<Void> answered) {
        synchronized (buffered) {
            List<Message<T>> taken = messages.stream()
                    .filter(message -> buffered.remove(delivery(message)) != null)
                    .toList();
            if (!taken.isEmpty()) {
                unconfirmed.add(answered);
            }
            return taken;
        }
    }

    /**
     * Stops in four steps:
     * <ol>
     *   <li>send what is buffered;
     *   <li>wait until the queue has answered;
     *   <li>stop, and send what another thread, which still saw the listener run, has acknowledged meanwhile;
     *   <li>wait for that, too, whichever thread has sent it, unless the queue did not answer before.
     * </ol>
     */
    @Override
    public void doStop() {
        sendBuffered();
        boolean answered = unconfirmed.await(patience, getId());
        super.doStop();
        sendBuffered();
        if (answered) {
            unconfirmed.await(patience, getId());
        }
    }

    private void sendBuffered() {
        List<Message<T>> left;
        synchronized (buffered) {
            left = List.copyOf(buffered.values());
        }
        var unused = sendToExecutor(left);
    }

    private static Delivery delivery(Message<?> message) {
        return ReceivedMessage.require(message).delivery();
    }
}
