package io.exactlyonce.benchmarks.process;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import tools.jackson.databind.json.JsonMapper;

/** A child process's side of the exchange with the benchmarks. */
public final class Conversation {

    static final String ANSWER = "> ";

    private Conversation() {}

    /** Answers requests. */
    public interface Answers<Q> {

        /** Returns the answer, which is written as JSON. */
        Object to(Q question) throws Exception;
    }

    /** Ends this process when the benchmarks end, even in the middle of work. */
    public static void endWithParent() {
        var unused = ProcessHandle.current()
                .parent()
                .map(parent ->
                        parent.onExit().thenRun(() -> Runtime.getRuntime().halt(1)));
    }

    /** Sends a message. */
    public static void say(Object answer) {
        System.out.println(ANSWER + JsonMapper.shared().writeValueAsString(answer));
    }

    /** Answers requests until there are no more. */
    public static <Q> void answer(Class<Q> type, Answers<Q> answers) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            say(answers.to(JsonMapper.shared().readValue(line, type)));
        }
    }

    /** Waits until there are no more requests, and answers none. */
    public static void awaitEnd() throws IOException {
        while (System.in.read() >= 0) {
            // The parent process still runs.
        }
    }
}
