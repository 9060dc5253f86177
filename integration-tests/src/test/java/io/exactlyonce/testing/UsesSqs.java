package io.exactlyonce.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.slf4j.LoggerFactory;
import org.testcontainers.DockerClientFactory;

/**
 * Marks tests that need the {@link SqsServer}, whose queues are deleted after them. They are skipped if LocalStack is
 * selected and Docker is missing.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Tag("sqs")
@ExtendWith(UsesSqs.Condition.class)
public @interface UsesSqs {

    /** Decides, and says why. */
    final class Condition implements ExecutionCondition, AfterAllCallback {

        private static final String NO_DOCKER = "LocalStack needs Docker, and there is none";

        /** Docker is checked once, and only if it is needed. */
        private static final class Docker {

            private static final boolean AVAILABLE = isAvailable();

            /** Logs the reason on the console, too, because reports contain it only in their XML. */
            private static boolean isAvailable() {
                boolean available = DockerClientFactory.instance().isDockerAvailable();
                if (!available) {
                    LoggerFactory.getLogger(UsesSqs.class).warn("Skipping the SQS tests on LocalStack: {}", NO_DOCKER);
                }
                return available;
            }
        }

        @Override
        public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
            if (SqsServerKind.wanted() != SqsServerKind.LOCALSTACK) {
                return ConditionEvaluationResult.enabled("The server needs nothing that could be missing");
            }
            return Docker.AVAILABLE
                    ? ConditionEvaluationResult.enabled("LocalStack runs in Docker")
                    : ConditionEvaluationResult.disabled(NO_DOCKER);
        }

        /** Only tests use these queues, and a server that outlives the tests would keep them forever. */
        @Override
        public void afterAll(ExtensionContext context) {
            SqsServer.shared().deleteQueues();
        }
    }
}
