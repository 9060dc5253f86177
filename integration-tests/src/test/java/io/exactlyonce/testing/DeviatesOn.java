package io.exactlyonce.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.platform.commons.support.AnnotationSupport;
import org.slf4j.LoggerFactory;

/**
 * Marks a test that fails on one SQS server, because this server deviates from AWS's documentation. A run on this
 * server skips the test, with the reason in log and report. {@code docs/contributing/sqs-servers.md} lists deviations.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(DeviatesOn.Condition.class)
public @interface DeviatesOn {

    /** The reason for a server whose FIFO queues deviate. */
    String GROUP_IN_FLIGHT =
            "once a message's visibility was set to 0, it hands out later ones of its group while earlier ones are"
                    + " in flight, unlike AWS";

    /** The server that deviates. */
    SqsProduct server();

    /** The behaviour of the server, and the behaviour of AWS. */
    String reason();

    /** Skips the test on a server that deviates, and gives the reason. */
    final class Condition implements ExecutionCondition {

        @Override
        public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
            DeviatesOn deviation = AnnotationSupport.findAnnotation(context.getRequiredTestMethod(), DeviatesOn.class)
                    .orElseThrow();
            ConditionEvaluationResult result = evaluate(deviation, SqsProduct.current());
            if (result.isDisabled()) {
                // Reports name a skipped test's reason in their XML only.
                LoggerFactory.getLogger(DeviatesOn.class)
                        .warn(
                                "Skipping {}.{}: {}",
                                context.getRequiredTestClass().getSimpleName(),
                                context.getRequiredTestMethod().getName(),
                                result.getReason().orElseThrow());
            }
            return result;
        }

        static ConditionEvaluationResult evaluate(DeviatesOn deviation, SqsProduct server) {
            return server == deviation.server()
                    ? ConditionEvaluationResult.disabled(server + " deviates from AWS: " + deviation.reason())
                    : ConditionEvaluationResult.enabled(server + " is not " + deviation.server());
        }
    }
}
