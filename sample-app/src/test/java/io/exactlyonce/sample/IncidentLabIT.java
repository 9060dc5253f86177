package io.exactlyonce.sample;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.sample.lab.Console;
import io.exactlyonce.sample.lab.Lab;
import io.exactlyonce.sample.lab.LabSettings;
import io.exactlyonce.sample.lab.Verdict;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("ci")
class IncidentLabIT {

    @Test
    void incidentHappensToTheNaiveSideOnly() throws Exception {
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        Console console = new Console(new PrintStream(output, true, StandardCharsets.UTF_8), false);
        LabSettings settings = LabSettings.standard().withOrders(45);

        Verdict verdict = new Lab(settings, console, IncidentLab.class).run();

        assertThat(verdict.objections())
                .as(() -> output.toString(StandardCharsets.UTF_8))
                .isEmpty();
        assertThat(verdict.lastLine())
                .matches("naive duplicates=[1-9]\\d* lost=\\d+ \\| exactly-once duplicates=0 lost=0");
    }
}
