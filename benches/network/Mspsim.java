import java.time.Duration;
import se.sics.mspsim.platform.sky.SkyNode;
import se.sics.mspsim.util.ArgumentManager;

/** A Tmote Sky of MSPSim that runs an image for some emulated seconds; beside.py starts it. */
public class Mspsim {
  private static double processor() {
    Duration spent = ProcessHandle.current().info().totalCpuDuration().orElseThrow();
    return spent.toNanos() * 1e-9;
  }

  public static void main(String[] arguments) throws Exception {
    ArgumentManager options = new ArgumentManager();
    options.handleArguments(new String[] {"-nogui", "-platform=sky", arguments[0]});
    SkyNode node = new SkyNode();
    options.setProperty("nogui", "true");
    options.setProperty("autorun", "/dev/null");
    node.setupArgs(options);
    long end = Math.round(Double.parseDouble(arguments[1]) * 1e6);
    double begin = processor();
    // Each step says how long the core now sleeps, in microseconds; 1 more lets it wake.
    for (long now = 0, before = 0; now < end; ) {
      long asleep = node.getCPU().stepMicros(now - before, 1);
      before = now;
      now += 1 + asleep;
    }
    System.out.printf("%n%.3f %d%n", processor() - begin, node.getCPU().cycles);
    System.exit(0);
  }
}
