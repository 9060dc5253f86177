package io.exactlyonce.sample.live;

import static java.lang.Boolean.TRUE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.exactlyonce.sample.IncidentLab;
import io.exactlyonce.sample.lab.Console;
import io.exactlyonce.sample.lab.Workspace;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer.OrderAnnotation;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.openqa.selenium.Keys;

/**
 * The page in a real browser, as the story goes on: each test begins where the one before it has ended. Screenshots go to
 * {@code target/screenshots}, or where {@code -Dscreenshots} says.
 */
@TestMethodOrder(OrderAnnotation.class)
class LivePageIT {

    private static final Duration PATIENCE = Duration.ofSeconds(90);
    private static final int WIDTH = 1400;
    private static final int HEIGHT = 900;
    private static final Path SCREENSHOTS = Path.of(System.getProperty("screenshots", "target/screenshots"));
    private static final String NAIVE = "#naive [data-value=duplicates]";
    private static final String OURS = "#exactlyOnce [data-value=duplicates]";
    private static final String SUPPRESSED = "#exactlyOnce [data-engine=suppressed]";
    private static final String WAITED = "#exactlyOnce [data-engine=waited]";
    private static final String TAKEOVERS = "#exactlyOnce [data-engine=takeovers]";
    private static final List<String> SIDES = List.of("#naive", "#exactlyOnce");

    private static LiveLab lab;
    private static Browser browser;

    @BeforeAll
    static void open() throws Exception {
        assumeTrue(
                Browser.program().isPresent() && Browser.driverProgram().isPresent(),
                "needs chromium and chromedriver: apt-get install chromium chromium-driver");
        LiveSettings settings = LiveSettings.standard().withPort(0);
        lab = LiveLab.open(settings, Workspace.create(), new Console(System.out, false), IncidentLab.class);
        browser = Browser.open(lab.url());
        browser.view(WIDTH, HEIGHT, 1);
    }

    @AfterAll
    static void close() {
        if (browser != null) {
            browser.close();
        }
        if (lab != null) {
            lab.close();
        }
    }

    /** A second connection keeps everything that the page is told. */
    @Test
    @Order(1)
    void chartsAreEmptyAndNoOrderFlowsBeforeAllWorkersAreReady() throws Exception {
        browser.run("""
                window.ticks = [];
                new EventSource('events').addEventListener('tick', tick => ticks.push(JSON.parse(tick.data)));
                """);
        await().atMost(PATIENCE).until(() -> browser.text("#story").startsWith("The workers are starting"));
        assertThat(SIDES).allSatisfy(side -> {
            assertThat(points(side)).isEmpty();
            assertThat(browser.number(side + " [data-value=orders]")).isZero();
        });

        lab.startWorkers();

        await().atMost(PATIENCE)
                .until(() -> browser.run("return ticks.some(tick => tick.chapter !== 'STARTING')"), TRUE::equals);
        assertThat((List<?>) browser.run("""
                const isReady = tick => [tick.naive, tick.exactlyOnce].every(
                    side => side.ready.length === 2 && side.starting.length === 0);
                const isEmpty = tick => [tick.naive, tick.exactlyOnce].every(
                    side => side.takings.charges === 0 && side.inHand.length === 0 && side.p95Millis === 0);
                const ready = ticks.findIndex(tick => tick.chapter !== 'STARTING');
                return [...ticks.slice(0, ready).filter(tick => !isEmpty(tick)), ...[ticks[ready]].filter(tick => !isReady(tick))]
                    .map(JSON.stringify);
                """)).isEmpty();
    }

    @Test
    @Order(2)
    void ordersFlowOnBothSidesAndAllIsExplained() {
        await().atMost(PATIENCE)
                .until(() -> SIDES.stream().noneMatch(side -> points(side).isEmpty()));

        assertThat(SIDES).allSatisfy(side -> {
            assertThat(browser.number(side + " [data-value=orders]")).isPositive();
            assertThat(points(side).get(0)).as("first p95 in percent").isBetween(1.0, 80.0);
        });
        assertThat(browser.text("#connection")).isEqualTo("Connected.");
    }

    /** Nothing that stands still or moves in a chart may hide its curve: there is one, and limits are drawn beneath. */
    @Test
    @Order(3)
    void eachSideHasAChartWithOneCurve() {
        assertThat(SIDES)
                .allSatisfy(side -> assertThat(browser.run(
                                "return Chart.getChart(document.querySelector(arguments[0])).data.datasets.length",
                                side + " canvas"))
                        .isEqualTo(1L));
    }

    @Test
    @Order(4)
    void everyControlIsSeenWithoutScrollingOnALaptop() {
        assertThat((List<?>) browser.run("""
                return [...document.querySelectorAll('button, select, #story, .counts, canvas')]
                    .map(each => [each.outerHTML, each.getBoundingClientRect()])
                    .filter(([_, box]) => box.width === 0 || box.top < 0 || box.left < 0
                        || box.bottom > innerHeight || box.right > innerWidth)
                    .map(([html]) => html);
                """)).isEmpty();
        assertThat(browser.run("return [innerWidth, innerHeight, scrollY]")).isEqualTo(List.of(1_400L, 900L, 0L));
    }

    @Test
    @Order(5)
    void naiveSideChargesTwiceOnceHandlersOutlastTheWindowAndOursDoesNot() {
        await().atMost(PATIENCE).until(() -> browser.number(NAIVE) >= 10);
        await().atMost(PATIENCE).until(() -> browser.number("[data-engine=windowRenewals]") > 0);

        assertThat(browser.number(OURS)).isZero();
        assertThat(browser.text("#story"))
                .containsPattern("Duplicate charges: [1-9]\\d* on the left, 0 on the right\\.");
        assertThat(browser.find("#naive canvas").getDomAttribute("aria-label"))
                .matches("p95 of handlers is \\d+ % of the visibility timeout on the naive side");
        assertThat(browser.number("[data-engine=claims]")).isPositive();
    }

    @Test
    @Order(6)
    void storyTellsItselfToItsEnd() {
        await().atMost(PATIENCE).until(() -> browser.text("#log").contains("the story is told"));

        assertThat(browser.number(SUPPRESSED)).isPositive();
        assertThat(browser.number(WAITED)).isPositive();
        assertThat(browser.number(TAKEOVERS)).isPositive();
        assertThat(browser.number("[data-engine=honoured]")).isPositive();
        assertThat(browser.number("[data-engine=mismatches]")).isZero();
        assertThat(browser.number(OURS)).isZero();
        assertThat(browser.text("#log")).contains("is killed with SIGKILL", "delivered once more to both sides");
        // Not judged: machines differ.
        System.out.println(browser.run("""
                const ready = ticks.find(tick => tick.chapter !== 'STARTING').second;
                const after = what => ticks.flatMap(tick => tick.happenings)
                    .find(each => each.side !== 'exactly-once' && each.what === what).second - ready;
                return `After the page says that workers are ready: first duplicate charge ${after('duplicate').toFixed(1)} s,`
                    + ` end of the story ${after('story-over').toFixed(1)} s`;
                """));
        assertThat(browser.accessibilityViolations()).isEmpty();
    }

    @Test
    @Order(7)
    void darkModeCanBeRead() throws Exception {
        // Without the focus: keys have a test of their own, which begins at the top.
        browser.run("document.querySelector('[data-switch=partner]').click()");
        long before = browser.number(NAIVE);
        await().atMost(PATIENCE).until(() -> browser.number(NAIVE) >= before + 10);
        await().atMost(PATIENCE).until(() -> browser.has("#naive .charges .duplicate"));
        browser.screenshot(SCREENSHOTS.resolve("lab-light.png"));

        browser.prefer("prefers-color-scheme", "dark");
        assertThat(browser.accessibilityViolations()).isEmpty();
        await().atMost(PATIENCE).until(() -> browser.has("#naive .charges .duplicate"));
        browser.screenshot(SCREENSHOTS.resolve("lab-dark.png"));
    }

    @Test
    @Order(8)
    void phoneShowsBothSidesAtOnceWithoutScrollingSideways() throws Exception {
        browser.view(390, 844, 2);

        assertThat(browser.run("return document.documentElement.scrollWidth")).isEqualTo(390L);
        assertThat(
                        browser.run(
                                "return document.querySelector('#exactlyOnce').getBoundingClientRect().right <= 390"
                                        + " && document.querySelector('#exactlyOnce .duplicates').getBoundingClientRect().bottom <= 844"))
                .isEqualTo(true);
        assertThat(browser.accessibilityViolations()).isEmpty();
        browser.screenshot(SCREENSHOTS.resolve("lab-phone.png"));
        browser.view(WIDTH, HEIGHT, 1);
    }

    /** Also before the chart has followed: a page may be shown, or touched, at any moment. */
    @Test
    @Order(9)
    void pageThatBecomesNarrowerNeverScrollsSideways() {
        for (int turn = 0; turn < 30; turn++) {
            browser.view(WIDTH, HEIGHT, 1);
            assertThat(browser.run("return document.documentElement.scrollWidth"))
                    .isEqualTo(1_400L);
            browser.view(390, 844, 2);
            assertThat(browser.run("return document.documentElement.scrollWidth"))
                    .isEqualTo(390L);
        }
        browser.view(WIDTH, HEIGHT, 1);
    }

    @Test
    @Order(10)
    void everyButtonIsReachedAndPressedByKeyboard() {
        browser.run("document.activeElement.blur(); scrollTo(0, 0)");
        browser.press(Keys.TAB);
        assertThat(browser.run("return document.activeElement.className")).isEqualTo("skip");

        press("[data-action=kill]", Keys.ENTER, "Killed, one on each side");
        press("[data-switch=replica]", Keys.SPACE, "The replica lags by 10 s");
        await().atMost(PATIENCE).until(() -> isPressed("[data-switch=replica]"));
        press("[data-action=redeliver]", Keys.ENTER, "All orders of the last minute are sent once more");
        browser.tabTo("#window");
        assertFocusIsVisible();
        browser.press(Keys.ARROW_DOWN);
        await().atMost(PATIENCE).until(() -> browser.text("#answer").startsWith("SQS applies 6 s"));
        await().atMost(PATIENCE)
                .until(() -> browser.text("#log").contains("the visibility timeout of both queues is 6 s"));
    }

    @Test
    @Order(11)
    void partnerRecovers() {
        browser.run("document.activeElement.blur(); scrollTo(0, 0)");
        press("[data-switch=partner]", Keys.SPACE, "The partner is quick again");

        await().atMost(PATIENCE).until(() -> !isPressed("[data-switch=partner]"));
        assertThat(browser.number(OURS)).isZero();
    }

    @Test
    @Order(12)
    void nothingMovesForThosePersonsWhoDoNotWantIt() {
        browser.prefer("prefers-reduced-motion", "reduce");
        browser.run("document.querySelector('#naive').classList.add('hit')");

        assertThat(browser.run("return getComputedStyle(document.querySelector('#naive')).animationName"))
                .isEqualTo("none");
    }

    @Test
    @Order(13)
    void nothingWasLoadedFromElsewhereAndNothingWentWrong() {
        assertThat((List<?>) browser.run("return performance.getEntriesByType('resource').map(each => each.name)"))
                .isNotEmpty()
                .allMatch(name -> name.toString().startsWith(lab.url().toString()));
        assertThat(browser.complaints()).isEmpty();
    }

    /** Returns what a side's chart shows, in percent, the oldest first. */
    private static List<Double> points(String side) {
        List<?> shown = (List<?>) browser.run("""
                return Chart.getChart(document.querySelector(arguments[0])).data.datasets[0].data
                    .map(point => point.y).filter(Number.isFinite)
                """, side + " canvas");
        return shown.stream().map(each -> ((Number) each).doubleValue()).toList();
    }

    private static void press(String button, Keys key, String answer) {
        browser.tabTo(button);
        assertFocusIsVisible();
        browser.press(key);
        await().atMost(PATIENCE).until(() -> browser.text("#answer").startsWith(answer));
    }

    private static void assertFocusIsVisible() {
        assertThat(browser.run("const style = getComputedStyle(document.activeElement);"
                        + "return style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2"))
                .as("outline of what has the focus")
                .isEqualTo(true);
    }

    private static boolean isPressed(String button) {
        return "true".equals(browser.find(button).getDomAttribute("aria-pressed"));
    }
}
