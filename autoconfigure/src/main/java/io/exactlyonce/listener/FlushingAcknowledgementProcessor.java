package io.exactlyonce.listener;

import io.awspring.cloud.sqs.listener.ContainerOptions;
import io.awspring.cloud.sqs.listener.SqsContainerOptions;
import io.awspring.cloud.sqs.listener.acknowledgement.BatchingAcknowledgementProcessor;
import io.exactlyonce.delivery.Delivery;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.messaging.Message;

/**
 * Buffers deletes as awspring does, but sends what is buffered when its listener stops. Awspring waits for a flush that it
 * has ceased to schedule, until its timeout, and drops the rest: each of those messages would come again, as a duplicate.
 */
final class FlushingAcknowledgementProcessor<T> extends BatchingAcknowledgementProcessor<T> {

    private static final Logger log = LoggerFactory.getLogger(FlushingAcknowledgementProcessor.class);

    private final Map<Delivery, Message<T>> buffered = Collections.synchronizedMap(new LinkedHashMap<>());
    private final Map<Delivery, CompletableFuture<Void>> unconfirmed = new ConcurrentHashMap<>();
    private Duration patience = Duration.ZERO;

    @Override
    protected void doConfigure(ContainerOptions<?, ?> options) {
        patience = options.getAcknowledgementShutdownTimeout();
        // Nothing is left to wait for once it has been sent here.
        super.doConfigure(((SqsContainerOptions) options)
                .toBuilder().acknowledgementShutdownTimeout(Duration.ZERO).build());
    }

    @Override
    protected CompletableFuture<Void> doOnAcknowledge(Message<T> message) {
        buffered.put(delivery(message), message);
        return super.doOnAcknowledge(message);
    }

    /** What has been sent already is not sent again: awspring still has it in its own buffer then. */
    @Override
    protected CompletableFuture<Void> sendToExecutor(Collection<Message<T>> messages) {
        List<Message<T>> unsent = messages.stream()
                .filter(message -> buffered.remove(delivery(message)) != null)
                .toList();
        if (unsent.isEmpty()) {
            return CompletableFuture.completedFuture(null);
        }
        CompletableFuture<Void> sent = super.sendToExecutor(unsent);
        List<Delivery> deliveries =
                unsent.stream().map(FlushingAcknowledgementProcessor::delivery).toList();
        deliveries.forEach(delivery -> unconfirmed.put(delivery, sent));
        return sent.whenComplete((confirmed, failure) -> deliveries.forEach(unconfirmed::remove));
    }

    @Override
    public void doStop() {
        List<Message<T>> left;
        synchronized (buffered) {
            left = new ArrayList<>(buffered.values());
        }
        var unused = sendToExecutor(left);
        await();
        super.doStop();
    }

    private void await() {
        CompletableFuture<?>[] sent = unconfirmed.values().toArray(CompletableFuture[]::new);
        try {
            CompletableFuture.allOf(sent).get(patience.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException unanswered) {
            log.warn(
                    "{} deletes of '{}' are unanswered after {}; their messages may come again, as duplicates",
                    unconfirmed.size(),
                    getId(),
                    patience);
        } catch (ExecutionException refused) {
            log.debug("A delete of '{}' failed, as was said before", getId(), refused);
        } catch (InterruptedException stopping) {
            Thread.currentThread().interrupt();
        }
    }

    private static Delivery delivery(Message<?> message) {
        return ReceivedMessage.require(message).delivery();
    }
}
