package io.exactlyonce.autoconfigure;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;
import software.amazon.awssdk.core.exception.SdkClientException;

/** Explains that no region is configured, of which the SDK says in ten lines where it has looked. */
final class RegionMissingFailureAnalyzer extends AbstractFailureAnalyzer<SdkClientException> {

    private static final String REGION = "spring.cloud.aws.region.static";
    private static final String ENDPOINT = "spring.cloud.aws.sqs.endpoint";
    private static final String COMMON_ENDPOINT = "spring.cloud.aws.endpoint";

    private final Environment environment;

    RegionMissingFailureAnalyzer(Environment environment) {
        this.environment = environment;
    }

    @Override
    protected @Nullable FailureAnalysis analyze(Throwable rootFailure, SdkClientException failure) {
        if (!String.valueOf(failure.getMessage()).startsWith("Unable to load region")) {
            return null;
        }
        String endpoint = environment.getProperty(ENDPOINT, environment.getProperty(COMMON_ENDPOINT, ""));
        String description = "No AWS region is known: %s is %s, and neither environment, profile nor instance has one"
                        .formatted(REGION, environment.containsProperty(REGION) ? "blank" : "not set")
                + " (endpoint %s)".formatted(StringUtils.hasText(endpoint) ? endpoint : "of AWS, as none is set");
        String action =
                "Set %s (or AWS_REGION) to the region of the queues, such as eu-central-1; an emulator takes any."
                        .formatted(REGION);
        return new FailureAnalysis(description, action, failure);
    }
}
