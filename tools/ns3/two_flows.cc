// Two CUBIC flows over one bottleneck in ns-3: their shares, and how long packets waited. Prints one line of JSON.
//
// tools/ns3/run compiles it against the distribution's ns-3 and makes the cells of docs/fidelity.md.
//
// The path is that of longhaul's experiments: rate of the bottleneck, half of the round trip each way behind it, everything else fast.
// Rates here include ns-3's two bytes of PPP header; they are added to the rate, so that IP packets meet the same one.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <algorithm>
#include <iostream>
#include <vector>

using namespace ns3;

namespace
{
std::vector<double> g_waits;
double g_from = 60;
std::vector<uint64_t> g_before{0, 0};
std::vector<Ptr<PacketSink>> g_sinks;

// A packet waits from its arrival at the queue until its transmission begins: the queue hands it to the device a packet earlier. A tag
// carries the time, because segments of one write share their number.
class EntryTag : public Tag
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("longhaul::EntryTag").SetParent<Tag>().AddConstructor<EntryTag>();
        return tid;
    }

    TypeId GetInstanceTypeId() const override
    {
        return GetTypeId();
    }

    uint32_t GetSerializedSize() const override
    {
        return 8;
    }

    void Serialize(TagBuffer buffer) const override
    {
        buffer.WriteU64(uint64_t(m_entered.GetNanoSeconds()));
    }

    void Deserialize(TagBuffer buffer) override
    {
        m_entered = NanoSeconds(int64_t(buffer.ReadU64()));
    }

    void Print(std::ostream& os) const override
    {
        os << m_entered;
    }

    Time m_entered;
};

void Entered(Ptr<const QueueDiscItem> item)
{
    EntryTag tag;
    tag.m_entered = Simulator::Now();
    item->GetPacket()->ReplacePacketTag(tag);
}

void Leaves(Ptr<const Packet> packet)
{
    EntryTag tag;
    if (Simulator::Now().GetSeconds() >= g_from && packet->PeekPacketTag(tag))
    {
        g_waits.push_back((Simulator::Now() - tag.m_entered).GetSeconds() * 1e3);
    }
}

void OpenWindow()
{
    for (size_t flow = 0; flow < g_sinks.size(); ++flow)
    {
        g_before[flow] = g_sinks[flow]->GetTotalRx();
    }
}
} // namespace

int main(int argc, char* argv[])
{
    double mbit = 20;
    double rttMs = 50;
    double bdp = 1;
    double until = 180;
    double second = 2;
    uint32_t run = 1;
    std::string queue = "droptail";
    CommandLine cmd;
    cmd.AddValue("mbit", "rate of the bottleneck, Mbit/s of IP packets", mbit);
    cmd.AddValue("rtt", "round-trip time, ms", rttMs);
    cmd.AddValue("bdp", "room of a drop-tail queue, bandwidth-delay products", bdp);
    cmd.AddValue("queue", "droptail, codel or fq_codel", queue);
    cmd.AddValue("second", "start of the second flow, s", second);
    cmd.AddValue("from", "start of the window, s", g_from);
    cmd.AddValue("until", "end of the window and of the run, s", until);
    cmd.AddValue("run", "number of the random stream", run);
    cmd.Parse(argc, argv);
    RngSeedManager::SetRun(run);

    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpCubic::GetTypeId()));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(8 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(8 << 20));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));

    NodeContainer routers;
    routers.Create(2);
    NodeContainer senders;
    senders.Create(2);
    NodeContainer receivers;
    receivers.Create(2);
    InternetStackHelper().InstallAll();

    PointToPointHelper fast;
    fast.SetDeviceAttribute("DataRate", StringValue("10Gbps"));
    fast.SetChannelAttribute("Delay", StringValue("1us"));
    PointToPointHelper slow;
    slow.SetDeviceAttribute("DataRate", DataRateValue(DataRate(uint64_t(mbit * 1e6 * 1502 / 1500))));
    slow.SetChannelAttribute("Delay", TimeValue(MicroSeconds(uint64_t(rttMs * 500 - 2))));
    slow.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("1p"));

    NetDeviceContainer bottleneck = slow.Install(routers);
    TrafficControlHelper control;
    if (queue == "codel")
    {
        control.SetRootQueueDisc("ns3::CoDelQueueDisc", "MaxSize", StringValue("1000p"));
    }
    else if (queue == "fq_codel")
    {
        control.SetRootQueueDisc("ns3::FqCoDelQueueDisc");
    }
    else
    {
        auto room = uint32_t(mbit * 1e6 * rttMs / 1e3 / 8 * bdp);
        control.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", StringValue(std::to_string(room) + "B"));
    }
    QueueDiscContainer discs = control.Install(bottleneck.Get(0));
    discs.Get(0)->TraceConnectWithoutContext("Enqueue", MakeCallback(&Entered));
    bottleneck.Get(0)->TraceConnectWithoutContext("PhyTxBegin", MakeCallback(&Leaves));

    Ipv4AddressHelper address;
    address.SetBase("10.0.0.0", "255.255.255.0");
    address.Assign(bottleneck);
    for (uint32_t flow = 0; flow < 2; ++flow)
    {
        address.NewNetwork();
        address.Assign(fast.Install(senders.Get(flow), routers.Get(0)));
        address.NewNetwork();
        Ipv4InterfaceContainer ends = address.Assign(fast.Install(routers.Get(1), receivers.Get(flow)));
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 5000));
        ApplicationContainer sinks = sink.Install(receivers.Get(flow));
        g_sinks.push_back(DynamicCast<PacketSink>(sinks.Get(0)));
        BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(ends.GetAddress(1), 5000));
        ApplicationContainer sources = source.Install(senders.Get(flow));
        sources.Start(Seconds(flow == 0 ? 0.001 : second));
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    Simulator::Schedule(Seconds(g_from), &OpenWindow);
    Simulator::Stop(Seconds(until));
    Simulator::Run();

    std::vector<double> read;
    for (size_t flow = 0; flow < 2; ++flow)
    {
        read.push_back(double(g_sinks[flow]->GetTotalRx() - g_before[flow]));
    }
    std::sort(g_waits.begin(), g_waits.end());
    double p95 = g_waits.empty() ? 0 : g_waits[g_waits.size() * 95 / 100];
    double p50 = g_waits.empty() ? 0 : g_waits[g_waits.size() / 2];
    QueueDisc::Stats stats = discs.Get(0)->GetStats();
    std::cout << "{\"queue\":\"" << queue << "\",\"mbit\":" << mbit << ",\"rtt_ms\":" << rttMs << ",\"run\":" << run
              << ",\"second_s\":" << second << ",\"first_pct\":" << 100 * read[0] / (read[0] + read[1])
              << ",\"early\":[" << g_before[0] << "," << g_before[1] << "]"
              << ",\"use\":" << (read[0] + read[1]) * 8 / (until - g_from) / (mbit * 1e6) * 1500 / 1448
              << ",\"wait_p50_ms\":" << p50 << ",\"wait_p95_ms\":" << p95
              << ",\"dropped\":" << stats.nTotalDroppedPackets << "}" << std::endl;
    Simulator::Destroy();
    return 0;
}
