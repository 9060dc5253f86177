package io.exactlyonce.listener.acknowledgement;

import io.awspring.cloud.sqs.listener.ContainerOptions;
import io.awspring.cloud.sqs.listener.SqsContainerOptions;
import io.awspring.cloud.sqs.listener.acknowledgement.AbstractOrderingAcknowledgementProcessor;
import io.awspring.cloud.sqs.listener.acknowledgement.AcknowledgementOrdering;
import io.exactlyonce.boundary.Boundary;
import io.exactlyonce.time.Timer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.messaging.Message;

/**
 * Gathers deletes until they are enough for a request, or an interval is over; with neither, each is sent at once. When its
 * listener stops it sends what it has, and waits for the queue's answers, since the client is closed behind it: awspring drops the
 * one and waits for none, and each of those messages would come again, as a duplicate. Its interval is one of the monotonic clock.
 */
public final class DeleteBuffer<T> extends AbstractOrderingAcknowledgementProcessor<T> {

    private static final Logger log = LoggerFactory.getLogger(DeleteBuffer.class);

    /** SQS's limit on the entries of one request. */
    private static final int MOST = 10;

    private final Timer timer;
    private final boolean isFifo;

    /** What is to be deleted is here or {@link #sent} at any time, until that is answered. Guards both. */
    private final List<Message<T>> buffered = new ArrayList<>();

    private final Set<CompletableFuture<?>> sent = ConcurrentHashMap.newKeySet();
    private boolean isTimed;
    private Duration patience = Duration.ZERO;
    private Duration interval = Duration.ZERO;
    private int threshold;

    /** @param isFifo whether deletes go at once unless the application asks for something else, as with awspring */
    public DeleteBuffer(Timer timer, boolean isFifo) {
        this.timer = timer;
        this.isFifo = isFifo;
        setMaxAcknowledgementsPerBatch(MOST);
    }

    @Override
    public void configure(ContainerOptions<?, ?> options) {
        patience = options.getAcknowledgementShutdownTimeout();
        interval = Objects.requireNonNullElse(
                options.getAcknowledgementInterval(), isFifo ? Duration.ZERO : Duration.ofSeconds(1));
        threshold = Objects.requireNonNullElse(options.getAcknowledgementThreshold(), isFifo ? 0 : MOST);
        AcknowledgementOrdering ordering = Objects.requireNonNullElse(
                options.getAcknowledgementOrdering(),
                isFifo && !isAtOnce() ? AcknowledgementOrdering.ORDERED : AcknowledgementOrdering.PARALLEL);
        super.configure(((SqsContainerOptions) options)
                .toBuilder().acknowledgementOrdering(ordering).build());
    }

    private boolean isAtOnce() {
        return interval.isZero() && threshold == 0;
    }

    @Override
    protected CompletableFuture<Void> doOnAcknowledge(Message<T> message) {
        return doOnAcknowledge(List.of(message));
    }

    @Override
    protected CompletableFuture<Void> doOnAcknowledge(Collection<Message<T>> messages) {
        boolean isFull;
        boolean isFirst;
        synchronized (buffered) {
            buffered.addAll(messages);
            isFull = isAtOnce() || (threshold > 0 && buffered.size() >= threshold);
            isFirst = !isFull && !isTimed && !interval.isZero();
            isTimed = isTimed || isFirst;
        }
        if (isFirst) {
            timer.after(interval, () -> Boundary.guard("Deletes that are due", this::sendDue));
        }
        return isFull ? send() : CompletableFuture.completedFuture(null);
    }

    private void sendDue() {
        synchronized (buffered) {
            isTimed = false;
        }
        var unused = send();
    }

    @SuppressWarnings("CollectionUndefinedEquality") // identity is meant
    private CompletableFuture<Void> send() {
        CompletableFuture<Void> answered = new CompletableFuture<>();
        List<Message<T>> messages;
        synchronized (buffered) {
            if (buffered.isEmpty()) {
                return CompletableFuture.completedFuture(null);
            }
            messages = List.copyOf(buffered);
            buffered.clear();
            sent.add(answered);
        }
        return sendToExecutor(messages).whenComplete((confirmed, failure) -> {
            sent.remove(answered);
            answered.complete(null);
        });
    }

    /** Twice: another thread, which still saw the listener run, may have acknowledged something meanwhile. */
    @Override
    protected void doStop() {
        var unused = send();
        boolean answered = awaitAnswers();
        unused = send();
        if (answered) {
            awaitAnswers();
        }
    }

    /** Returns whether all that was sent has been answered. */
    private boolean awaitAnswers() {
        try {
            CompletableFuture.allOf(sent.toArray(CompletableFuture[]::new))
                    .get(patience.toMillis(), TimeUnit.MILLISECONDS);
            return true;
        } catch (TimeoutException | ExecutionException unanswered) {
            log.warn(
                    "{} deletes of '{}' are unanswered after {}; their messages may come again, as duplicates",
                    sent.size(),
                    getId(),
                    patience);
        } catch (InterruptedException stopping) {
            Thread.currentThread().interrupt();
        }
        return false;
    }
}
