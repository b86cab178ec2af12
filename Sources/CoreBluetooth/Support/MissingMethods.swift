import BLERuntime

// There is no way to find out which optional methods a delegate has. Instead, the default implementation of a method
// reports that the method is missing when it is called.
extension HostSession {
    /// Reports that the delegate lacks a method for which the app was woken in the background.
    ///
    /// A simulated world lists that as a finding.
    ///
    /// Core Bluetooth Programming Guide, “Core Bluetooth Background Processing”: an app that declares the mode is woken
    /// for connections and values, or for requests and subscriptions, and is expected to handle them.
    func reportMissing(_ method: String) {
        report("Core Bluetooth Background Processing: delegate methods", "the delegate lacks \(method)")
    }
}
