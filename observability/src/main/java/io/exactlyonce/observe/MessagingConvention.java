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
 * Gives OpenTelemetry's names to the observations of messages that listeners of this library receive: the name
 * {@code messaging.process.duration}, and the attributes of the
 * <a href="https://opentelemetry.io/docs/specs/semconv/messaging/messaging-metrics/">semantic conventions for
 * messaging</a>. Spring Cloud AWS makes these observations, with older names such as {@code messaging.operation} and
 * {@code messaging.source.name}. A convention that the application sets in a container's options has precedence over
 * this class.
 *
 * <p>OpenTelemetry marks these names as <em>Development</em>, so a release of the conventions may change the names.
 * The names are therefore literals in this class, and are not used by default.
 */
public final class MessagingConvention implements GlobalObservationConvention<ReceiverContext<?>> {

    static final String PROCESS_DURATION = "messaging.process.duration";

    static final String RECEIVE = "receive";
    static final String PROCESS = "process";
    static final String SETTLE = "settle";

    /** Returns the attributes of low cardinality for one of OpenTelemetry's operations, such as {@code process}. */
    static KeyValues describe(String operation, Delivery delivery) {
        return KeyValues.of(
                KeyValue.of("messaging.system", "aws_sqs"),
                KeyValue.of("messaging.operation.type", operation),
                KeyValue.of("messaging.operation.name", operation),
                KeyValue.of(
                        "messaging.destination.name", delivery.subscription().queue()));
    }

    /**
     * Returns the delivery of an observation: Spring Cloud AWS's context contains the message, and the message refers
     * to its delivery. Returns empty for other observations.
     */
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

    /**
     * Returns the attributes of low cardinality. The attribute {@code error.type} is present even without an error,
     * because all meters of one name must have the same tags.
     */
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
