// What enforces NetworkPolicies in the test bed's cluster: the controller of kube-network-policies, which the kernel asks
// about each new connection through a queue (nfqueue).
//
// The program of that project would run in a pod, with its image. This one takes a kubeconfig, so that it runs beside the
// kubelet. Who starts it adds the rule that fills the queue.
package main

import (
	"context"
	"flag"
	"os/signal"
	"syscall"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	"sigs.k8s.io/kube-network-policies/pkg/networkpolicy"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "who it is, and where the API server is")
	node := flag.String("hostname-override", "", "the name of the node")
	queue := flag.Int("nfqueue-id", 100, "the number of the queue")
	klog.InitFlags(nil)
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		klog.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		klog.Fatal(err)
	}
	known := informers.NewSharedInformerFactory(client, 0)
	controller, err := networkpolicy.NewController(
		client,
		known.Networking().V1().NetworkPolicies(),
		known.Core().V1().Namespaces(),
		known.Core().V1().Pods(),
		nil, nil, nil, nil, // of AdminNetworkPolicies, which are off
		networkpolicy.Config{QueueID: *queue, NodeName: *node}, // without NRI v0.8.0 falls at the first address of no pod
	)
	if err != nil {
		klog.Fatal(err)
	}
	known.Start(ctx.Done())
	if err := controller.Run(ctx); err != nil {
		klog.Fatal(err)
	}
}
