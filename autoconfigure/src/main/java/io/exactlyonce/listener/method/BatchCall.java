package io.exactlyonce.listener.method;

import io.awspring.cloud.sqs.listener.BatchVisibility;
import io.exactlyonce.Claim;
import io.exactlyonce.InvalidKeyException;
import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.delivery.pipeline.Attempt;
import io.exactlyonce.delivery.pipeline.ClaimedDelivery;
import io.exactlyonce.delivery.pipeline.DeliveryPipeline;
import io.exactlyonce.delivery.pipeline.Handler;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.exactlyonce.listener.message.RenewingVisibility;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.messaging.Message;

/**
 * A call of a batch listener's method, to be continued for the messages whose keys it acquires: its arguments, which
 * were resolved for all of the batch, are cut down to those.
 */
final class BatchCall implements Handler {

    private final CurrentDeliveries batch;
    private final BatchSignature shape;
    private final MethodInvocation invocation;
    private final List<?> resolved;

    BatchCall(CurrentDeliveries batch, BatchSignature shape, MethodInvocation invocation) {
        this.batch = batch;
        this.shape = shape;
        this.invocation = invocation;
        this.resolved = (List<?>) Objects.requireNonNull(invocation.getArguments()[shape.list()]);
        if (resolved.size() != batch.messages().size()) {
            throw new IllegalStateException("A batch of %d messages was resolved to %d arguments"
                    .formatted(batch.messages().size(), resolved.size()));
        }
    }

    /** Processes the batch; a message of it that has no usable key is told of, and left to its end. */
    void process(DeliveryPipeline pipeline) throws Throwable {
        pipeline.process(attempts(), this).join();
    }

    private List<Attempt> attempts() {
        List<Attempt> attempts = new ArrayList<>(resolved.size());
        for (int index = 0; index < resolved.size(); index++) {
            Message<?> message = batch.messages().get(index);
            ReceivedMessage received = ReceivedMessage.require(message);
            ClaimSpec handling = handling(received, message);
            attempts.add(Attempt.ofBatch(received.delivery(), received.group(), handling));
        }
        return attempts;
    }

    private @Nullable ClaimSpec handling(ReceivedMessage received, Message<?> message) {
        try {
            return batch.method().spec(message);
        } catch (InvalidKeyException unusable) {
            KeyExpression.logUnusable(received.delivery(), unusable);
            return null;
        }
    }

    @Override
    public CompletionStage<?> handle(List<ClaimedDelivery> acquired) throws Throwable {
        @Nullable Object[] arguments = invocation.getArguments();
        // Lists that the method may change, as awspring's are.
        List<Object> items = new ArrayList<>(acquired.size());
        List<Claim> claims = new ArrayList<>(acquired.size());
        for (ClaimedDelivery each : acquired) {
            items.add(resolved.get(each.index()));
            claims.add(each.claim());
        }
        arguments[shape.list()] = items;
        if (shape.claims() >= 0) {
            arguments[shape.claims()] = claims;
        }
        if (shape.visibility() >= 0) {
            arguments[shape.visibility()] = visibility(acquired);
        }
        invocation.proceed();
        // What the method returns is ignored: there is no result of one message that could be kept.
        return CompletableFuture.completedFuture(null);
    }

    private BatchVisibility visibility(List<ClaimedDelivery> acquired) {
        return RenewingVisibility.ofAll(acquired.stream()
                .<Message<?>>map(each -> batch.messages().get(each.index()))
                .toList());
    }
}
