package io.exactlyonce.test.kit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.test.context.TestPropertySource;

/**
 * Adds an {@link ExactlyOnceDriver} to a test, for example to a {@code @SpringBootTest}. Listeners read queues in
 * memory, and claims are also in memory. {@link ExactlyOnceTest} includes this annotation.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@ImportAutoConfiguration
@TestPropertySource(
        properties = {
            "exactly-once.audit.mode=off",
            "spring.cloud.aws.sqs.enabled=true",
            "spring.cloud.aws.sqs.listener.poll-timeout=1s",
            "spring.cloud.aws.sqs.listener.max-delay-between-polls=10ms"
        })
public @interface AutoConfigureExactlyOnceDriver {}
