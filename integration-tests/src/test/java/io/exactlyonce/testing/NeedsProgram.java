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

/** Marks tests that start a program of the operating system. They are skipped if it is not installed. */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(NeedsProgram.Condition.class)
public @interface NeedsProgram {

    /** The program's file name. */
    String value();

    /** The name of the Debian package that contains the program. */
    String debianPackage();

    /** Checks for the program, and reports a missing one. */
    final class Condition implements ExecutionCondition {

        @Override
        public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
            Class<?> test = context.getRequiredTestClass();
            NeedsProgram needed =
                    AnnotationSupport.findAnnotation(test, NeedsProgram.class).orElseThrow();
            if (SystemProgram.find(needed.value()).isPresent()) {
                return ConditionEvaluationResult.enabled(needed.value() + " is installed");
            }
            String reason = "%s needs %s, which is not installed; on Debian: apt-get install %s"
                    .formatted(test.getSimpleName(), needed.value(), needed.debianPackage());
            if (context.getTestMethod().isEmpty()) {
                // Logs the reason on the console, because reports contain it only in their XML.
                LoggerFactory.getLogger(NeedsProgram.class).warn("Skipped: {}", reason);
            }
            return ConditionEvaluationResult.disabled(reason);
        }
    }
}
