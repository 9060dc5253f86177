package io.exactlyonce;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/** The text that a test printed and logged so far. */
public final class CapturedOutput implements CharSequence {

    private final ByteArrayOutputStream captured = new ByteArrayOutputStream();
    private final PrintStream console = System.out;

    CapturedOutput() {
        System.setOut(new PrintStream(new Tee(), true, StandardCharsets.UTF_8));
    }

    void release() {
        System.setOut(console);
    }

    /** A stream that also writes to the console. */
    private final class Tee extends OutputStream {

        @Override
        public void write(int one) {
            write(new byte[] {(byte) one}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) {
            console.write(bytes, offset, length);
            captured.write(bytes, offset, length);
        }

        @Override
        public void flush() {
            console.flush();
        }
    }

    /** Returns what was printed since the test began. */
    public String getOut() {
        return captured.toString(StandardCharsets.UTF_8);
    }

    @Override
    public int length() {
        return getOut().length();
    }

    @Override
    public char charAt(int index) {
        return getOut().charAt(index);
    }

    @Override
    public CharSequence subSequence(int start, int end) {
        return getOut().subSequence(start, end);
    }

    @Override
    public String toString() {
        return getOut();
    }
}
