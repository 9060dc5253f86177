package io.exactlyonce.testing;

import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.AutoConfigurationImportFilter;
import org.springframework.boot.autoconfigure.AutoConfigurationMetadata;
import org.springframework.context.EnvironmentAware;
import org.springframework.core.env.Environment;

/**
 * Keeps Spring Modulith and SNS out of applications under test that do not need them: they are on the class path for a
 * few tests, and would replace beans. {@value #OUTBOX} names the outbox that an application has.
 */
public final class OptionalConfigurations implements AutoConfigurationImportFilter, EnvironmentAware {

    /** A property: {@code jdbc} or {@code jpa}. Without it there is no outbox. */
    public static final String OUTBOX = "test.outbox";

    private static final String MODULITH = "org.springframework.modulith.";
    private static final String SNS = "io.awspring.cloud.autoconfigure.sns.";

    private String outbox = "";

    @Override
    public void setEnvironment(Environment environment) {
        outbox = environment.getProperty(OUTBOX, "").toLowerCase(Locale.ROOT);
    }

    @Override
    public boolean[] match(@Nullable String[] configurations, AutoConfigurationMetadata metadata) {
        boolean[] wanted = new boolean[configurations.length];
        for (int index = 0; index < configurations.length; index++) {
            String configuration = configurations[index];
            wanted[index] = configuration == null || isWanted(configuration);
        }
        return wanted;
    }

    private boolean isWanted(String configuration) {
        if (configuration.startsWith(SNS)) {
            return false;
        }
        if (!configuration.startsWith(MODULITH)) {
            return true;
        }
        return switch (outbox) {
            case "jdbc" -> !configuration.startsWith(MODULITH + "events.jpa.");
            case "jpa" -> !configuration.startsWith(MODULITH + "events.jdbc.");
            default -> false;
        };
    }
}
