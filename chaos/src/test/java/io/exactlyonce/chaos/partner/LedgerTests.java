package io.exactlyonce.chaos.partner;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.chaos.history.Recorder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LedgerTests {

    @TempDir
    private Path directory;

    private Recorder recorder;
    private Ledger ledger;

    @BeforeEach
    void open() throws IOException {
        recorder = new Recorder(directory.resolve("history"));
        ledger = new Ledger(recorder);
    }

    @AfterEach
    void close() throws IOException {
        recorder.close();
    }

    @Test
    void honouredKeyActsOnceAndIsRecognisedThen() throws IOException {
        ledger.actOnce("k", "w/1", "downstream");
        ledger.actOnce("k", "w/2", "downstream");

        assertThat(history())
                .containsSubsequence("EFFECT", "RECOGNISED")
                .doesNotContainPattern("EFFECT[\\s\\S]*EFFECT");
    }

    @Test
    void anotherKeyActsAgain() throws IOException {
        ledger.actOnce("k", "w/1", "downstream");
        ledger.actOnce("k", "w/2", "another");

        assertThat(history()).containsPattern("EFFECT[\\s\\S]*EFFECT");
    }

    @Test
    void ledgerWithoutKeysActsEachTime() throws IOException {
        assertThat(ledger.hasActed("k")).isFalse();
        ledger.act("k", "w/1");
        ledger.act("k", "w/2");

        assertThat(ledger.hasActed("k")).isTrue();
        assertThat(history()).containsPattern("EFFECT[\\s\\S]*EFFECT");
    }

    private String history() throws IOException {
        return Files.readString(directory.resolve("history"));
    }
}
