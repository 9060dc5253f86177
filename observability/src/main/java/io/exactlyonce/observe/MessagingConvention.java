package io.exactlyonce.observe;

import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.micrometer.common.KeyValue;
import io.micrometer.common.KeyValues;
import io.micrometer.observation.GlobalObservationConvention;
import io.micrometer.observation.Observation;
import io.micrometer.observation.transport.ReceiverContext;
import java.util.Optional;
import org.springframework.messaging.Message;

/**
 * Gives the observation of a message that our listeners get OpenTelemetry's names: {@code messaging.process.duration}, and the
 * attributes of its <a href="https://opentelemetry.io/docs/specs/semconv/messaging/messaging-metrics/">semantic conventions for
 * messaging</a>. Awspring, which makes that observation, gives it older ones: {@code messaging.operation} and {@code
 * messaging.source.name}. The application's own convention among the options of a container comes first.
 *
 * <p>The names are still marked <em>Development</em> there: they may change with a release of the conventions, which is why
 * they are literals here, and off by default.
 */
public final class MessagingConvention implements GlobalObservationConvention<ReceiverContext<?>> {

    static final String PROCESS_DURATION = "messaging.process.duration";

    static final String RECEIVE = "receive";
    static final String PROCESS = "process";
    static final String SETTLE = "settle";

    /** Returns the attributes with few values; the operation is one of OpenTelemetry's. */
    static KeyValues describe(String operation, Delivery delivery) {
        return KeyValues.of(
                KeyValue.of("messaging.system", "aws_sqs"),
                KeyValue.of("messaging.operation.type", operation),
                KeyValue.of("messaging.operation.name", operation),
                KeyValue.of(
                        "messaging.destination.name", delivery.subscription().queue()));
    }

    /** Awspring's context holds the message, and the message its delivery. */
    private static Optional<Delivery> find(Observation.Context context) {
        return context instanceof ReceiverContext<?> received && received.getCarrier() instanceof Message<?> message
                ? ReceivedMessage.of(message).map(ReceivedMessage::delivery)
                : Optional.empty();
    }

    private static Delivery delivery(ReceiverContext<?> context) {
        return find(context).orElseThrow();
    }

    @Override
    public boolean supportsContext(Observation.Context context) {
        return find(context).isPresent();
    }

    @Override
    public String getName() {
        return PROCESS_DURATION;
    }

    @Override
    public String getContextualName(ReceiverContext<?> context) {
        return "process " + delivery(context).subscription().queue();
    }

    /** Always includes {@code error.type}, because all meters of one name must have the same tags. */
    @Override
    public KeyValues getLowCardinalityKeyValues(ReceiverContext<?> context) {
        Throwable error = context.getError();
        return describe(PROCESS, delivery(context))
                .and(
                        "error.type",
                        error == null ? KeyValue.NONE_VALUE : error.getClass().getName());
    }

    @Override
    public KeyValues getHighCardinalityKeyValues(ReceiverContext<?> context) {
        return KeyValues.of("messaging.message.id", delivery(context).messageId());
    }
}
